// Checks the workspace: `types`, `format`, `unit` tests; all of them without an argument.
// Exits with 1 if anything is wrong.
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { LANGUAGES } from "./languages.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
/** A test that takes longer has failed: one that waits for ever would hold up all. */
const LIMIT_MS = 60_000;
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
    const late = join(out, "late");
    Object.assign(process.env, { NOTES_TEST_LIMIT_MS: LIMIT_MS + 5_000, NOTES_TEST_LATE: late });
    const watch = join(HERE, "test/time_limit.mjs");
    const limits = [`--test-timeout=${LIMIT_MS}`, "--test-force-exit", `--import=${watch}`];
    const code = await run(process.execPath, "--test", ...limits, "--test-reporter=dot", ...built);
    // The process of such a test has ended with nothing else to say.
    console.log(await readFile(late, "utf8").catch(() => ""));
    return code;
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
