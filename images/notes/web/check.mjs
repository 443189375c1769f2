// Checks the workspace: `types`, `format`, `unit` tests; all of them without an argument.
// Exits with 1 if anything is wrong.
import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { LANGUAGES } from "./languages.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const tool = (name) => join(HERE, "node_modules/.bin", name);

const run = (command, ...given) =>
  new Promise((done) => {
    const child = spawn(command, given, { cwd: HERE, stdio: "inherit" });
    child.on("exit", (code) => done(code ?? 1));
  });

async function unitTests() {
  const names = (await readdir(join(HERE, "test/unit"))).filter((name) =>
    /\.test\.tsx?$/.test(name),
  );
  const out = await mkdtemp(join(tmpdir(), "notes-web-"));
  try {
    await build({
      absWorkingDir: HERE,
      entryPoints: names.map((name) => `test/unit/${name}`),
      outdir: out,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      define: LANGUAGES,
      format: "esm",
      platform: "node",
      jsx: "automatic",
      jsxImportSource: "preact",
      loader: { ".json": "json" },
    });
    const built = names.map((name) => join(out, name.replace(/\.tsx?$/, ".mjs")));
    return await run(process.execPath, "--test", "--test-reporter=dot", ...built);
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

const checks = {
  types: () => run(tool("tsc"), "-p", "."),
  format: () => run(tool("prettier"), "--check", "--log-level=warn", "."),
  unit: unitTests,
};
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(checks);
const failed = [];
for (const name of wanted) failed.push(await checks[name]());
process.exitCode = failed.some(Boolean) ? 1 : 0;
