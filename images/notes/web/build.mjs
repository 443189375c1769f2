// Builds the workspace into src/notes/web/static: hashed files, each also as gzip and brotli, and a
// manifest with hashes and sizes. Exits with 1 if a budget of budgets.json is exceeded.
//   node build.mjs           builds
//   node build.mjs sizes     prints the sizes of the last build beside their budgets
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";
import { png, SVG } from "./icons.mjs";
import { LANGUAGES, NO_SCRIPT } from "./languages.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const STATIC = join(HERE, "../src/notes/web/static");
const SOURCES = [
  "src",
  "package-lock.json",
  "build.mjs",
  "icons.mjs",
  "languages.mjs",
  "budgets.json",
];
const OPTIONS = {
  absWorkingDir: HERE,
  bundle: true,
  format: "esm",
  target: ["es2022", "chrome108", "firefox115", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  define: LANGUAGES,
  minify: true,
  legalComments: "none",
  logLevel: "warning",
  write: false,
  metafile: true,
};
const hash = (bytes, length = 12) =>
  createHash("sha256").update(bytes).digest("hex").slice(0, length);

async function filesOf(path) {
  const found = [];
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    found.push(...(entry.isDirectory() ? await filesOf(inner) : [inner]));
  }
  return found.sort();
}

/** The digest of all sources, so that a build can be recognised as current. */
async function sourcesDigest() {
  const hashed = createHash("sha256");
  for (const name of SOURCES) {
    const path = join(HERE, name);
    const files = name === "src" ? await filesOf(path) : [path];
    for (const file of files)
      hashed.update(`${file.slice(HERE.length)}\0`).update(await readFile(file));
  }
  return hashed.digest("hex");
}

/** The paths of the parts that are fetched when they are needed; also some that do not exist. */
async function partsFetchedLater() {
  const found = new Set();
  for (const path of await filesOf(join(HERE, "src"))) {
    if (/\/words\/[^/]+\/index\.ts$/.test(path)) found.add(path);
    const text = await readFile(path, "utf8");
    for (const [, name] of text.matchAll(/\bimport\("(\.[^"]+)"\)/g))
      for (const end of [".ts", ".tsx"]) found.add(join(dirname(path), name + end));
  }
  return found;
}

/**
 * Makes one chunk of all that the first page loads: each part that is fetched later imports the
 * application as well. Left alone, esbuild makes a chunk of each set of parts that share a file:
 * 19 requests instead of two, and together 6.1 kB more, since each is compressed alone.
 */
const oneFirstChunk = {
  name: "one first chunk",
  async setup(building) {
    const first = `import ${JSON.stringify(join(HERE, "src/app/main.tsx"))};`;
    const later = await partsFetchedLater();
    building.onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
      if (!later.has(path)) return undefined;
      const contents = `${first}\n${await readFile(path, "utf8")}`;
      return { contents, loader: path.endsWith("x") ? "tsx" : "ts" };
    });
  },
};

async function application() {
  const result = await build({
    ...OPTIONS,
    plugins: [oneFirstChunk],
    entryPoints: { app: "src/app/main.tsx", style: "src/style/app.css" },
    splitting: true,
    outdir: "out",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
  });
  const assets = new Map(
    result.outputFiles.map((file) => [basename(file.path), Buffer.from(file.contents)]),
  );
  const outputs = Object.entries(result.metafile.outputs);
  const entry = outputs.find(([, output]) => output.entryPoint === "src/app/main.tsx")[0];
  const style = outputs.find(([, output]) => output.entryPoint === "src/style/app.css")[0];
  // What the first page loads: the entry, and the chunks that it imports without waiting.
  const scripts = new Set([entry]);
  for (const path of scripts) {
    for (const { path: next, kind } of result.metafile.outputs[path].imports) {
      if (kind === "import-statement") scripts.add(next);
    }
  }
  // What opening the editor loads after that.
  const editor = new Set(
    outputs.filter(([, output]) => output.entryPoint === "src/editor/editing.tsx").map(([p]) => p),
  );
  for (const path of editor) {
    for (const { path: next, kind } of result.metafile.outputs[path].imports) {
      if (kind === "import-statement" && !scripts.has(next)) editor.add(next);
    }
  }
  return {
    assets,
    editor: [...editor].map((p) => basename(p)),
    entry: basename(entry),
    style: basename(style),
    scripts: [...scripts].map((p) => basename(p)),
  };
}

async function main() {
  const digest = await sourcesDigest();
  const { assets, editor, entry, style, scripts } = await application();
  const icons = {
    "icon.svg": Buffer.from(SVG),
    "icon-192.png": png(192),
    "icon-512.png": png(512),
  };
  icons["icon-maskable.png"] = png(512, true);
  icons["icon-apple.png"] = png(180, true);
  const iconNames = {};
  for (const [name, bytes] of Object.entries(icons)) {
    const named = name.replace(".", `-${hash(bytes, 8)}.`);
    iconNames[name] = named;
    assets.set(named, bytes);
  }
  const shell = (await readFile(join(HERE, "src/app/shell.html"), "utf8"))
    .replaceAll("{{no_script}}", NO_SCRIPT)
    .replaceAll("{{style}}", `/assets/${style}`)
    .replaceAll("{{script}}", `/assets/${entry}`)
    .replaceAll("{{icon}}", `/assets/${iconNames["icon.svg"]}`)
    .replaceAll("{{apple}}", `/assets/${iconNames["icon-apple.png"]}`)
    .replaceAll(
      "{{preloads}}",
      scripts
        .filter((name) => name !== entry)
        .map((name) => `<link rel="modulepreload" href="/assets/${name}">`)
        .join("\n"),
    );
  const precached = [...assets.keys()]
    .filter((name) => !/^icon-(512|maskable|apple)/.test(name))
    .sort();
  const buildId = hash(Buffer.from([shell, ...precached].join("\n")), 16);
  const worker = await build({
    ...OPTIONS,
    entryPoints: ["src/worker/service_worker.ts"],
    format: "iife",
    define: {
      BUILD: JSON.stringify(buildId),
      ASSETS: JSON.stringify(precached.map((name) => `/assets/${name}`)),
    },
  });
  const files = new Map([...assets].map(([name, bytes]) => [`assets/${name}`, bytes]));
  files.set("shell.html", Buffer.from(shell));
  files.set("sw.js", Buffer.from(worker.outputFiles[0].contents));

  const next = `${STATIC}.next`;
  await rm(next, { recursive: true, force: true });
  await mkdir(join(next, "assets"), { recursive: true });
  const listed = {};
  for (const [path, bytes] of [...files].sort()) {
    await writeFile(join(next, path), bytes);
    listed[path] = { bytes: bytes.length, sha256: hash(bytes, 64) };
    if (path.endsWith(".png")) continue;
    const gz = gzipSync(bytes, { level: 9 });
    const br = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
    await writeFile(join(next, `${path}.gz`), gz);
    await writeFile(join(next, `${path}.br`), br);
    Object.assign(listed[path], { gzip: gz.length, brotli: br.length });
  }
  const gzipped = (names) =>
    names.reduce((sum, name) => sum + (listed[name].gzip ?? listed[name].bytes), 0);
  const paths = (names) => names.map((name) => `assets/${name}`);
  const sizes = {
    first_load_script_gzip: gzipped(paths(scripts)),
    first_load_gzip: gzipped(["shell.html", ...paths([...scripts, style])]),
    editor_gzip: gzipped(paths(editor)),
    precached_gzip: gzipped(["shell.html", "sw.js", ...paths(precached)]),
  };
  const manifest = { build: buildId, sources: digest, sizes, icons: iconNames, files: listed };
  await writeFile(join(next, "manifest.json"), `${JSON.stringify(manifest, null, 1)}\n`);
  await rm(STATIC, { recursive: true, force: true });
  await rename(next, STATIC);
  return sizes;
}

function report(sizes, budgets) {
  let over = 0;
  for (const [name, most] of Object.entries(budgets)) {
    const found = sizes[name];
    over += found > most ? 1 : 0;
    const state = found > most ? "OVER BUDGET" : "ok";
    console.log(`${name.padEnd(24)} ${String(found).padStart(8)} bytes, at most ${most}: ${state}`);
  }
  return over;
}

const budgets = JSON.parse(await readFile(join(HERE, "budgets.json"), "utf8"));
// The budgets are those of English and German; each further folder of words may weigh as much as the German one does.
const MOST_OF_A_LANGUAGE = 24 * 1024;
const folders = await readdir(join(HERE, "src/words"), { withFileTypes: true });
const further = folders.filter((one) => one.isDirectory() && one.name !== "de").length;
budgets.precached_gzip += further * MOST_OF_A_LANGUAGE;
const isSizes = process.argv[2] === "sizes";
const sizes = isSizes
  ? JSON.parse(await readFile(join(STATIC, "manifest.json"), "utf8")).sizes
  : await main();
process.exitCode = report(sizes, budgets) ? 1 : 0;
