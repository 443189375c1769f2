// Builds a page for each editor into dist/, and prints the gzip bytes of its script as JSON.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const DIST = join(HERE, "dist");
const EDITORS = { prosemirror: "prosemirror.js", tiptap: "tiptap.jsx", blocknote: "blocknote.jsx" };
const html = (name, hasStyle) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<title>${name}</title>
${hasStyle ? `<link rel="stylesheet" href="/${name}.css">` : ""}
<style>body { font: 16px/1.5 sans-serif } #place { max-width: 45rem; margin: auto } .ProseMirror { white-space: pre-wrap }</style>
</head><body><button hidden>Edit</button><div id="place"></div>
<script type="module" src="/${name}.js"></script></body></html>
`;

await rm(DIST, { recursive: true, force: true });
await mkdir(DIST, { recursive: true });
const sizes = {};
for (const [name, file] of Object.entries(EDITORS)) {
  const { outputFiles } = await build({
    absWorkingDir: HERE,
    entryPoints: { [name]: `src/${file}` },
    outdir: "dist",
    bundle: true,
    format: "esm",
    target: ["es2022", "chrome108", "firefox115", "safari16.4"],
    jsx: "automatic",
    minify: true,
    legalComments: "none",
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"production"' },
    // BlockNote's style sheets are exported for this condition only.
    conditions: ["style", "module"],
    loader: { ".woff": "empty", ".woff2": "empty" },
    write: false,
  });
  for (const { path, contents } of outputFiles) await writeFile(path, contents);
  const paths = outputFiles.map(({ path }) => basename(path));
  await writeFile(join(DIST, `${name}.html`), html(name, paths.includes(`${name}.css`)));
  sizes[name] = gzipSync(await readFile(join(DIST, `${name}.js`)), { level: 9 }).length;
}
console.log(JSON.stringify(sizes));
