// Pastes each Markdown text of a JSON list into an empty page of the editor, and writes the documents.
// Arguments: the file with the texts, and the file for the documents.
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [given, made] = process.argv.slice(2);
const web = new URL('../../web/', import.meta.url);
const { build } = createRequire(new URL('package.json', web))('esbuild');
await build({
  stdin: { contents: 'export * from "./test/pasting";', resolveDir: fileURLToPath(web), loader: 'ts' },
  outfile: `${made}.mjs`, bundle: true, format: 'esm', platform: 'node', jsx: 'automatic', jsxImportSource: 'preact', loader: { '.json': 'json' },
});
const { pasted } = await import(pathToFileURL(`${made}.mjs`).href);
const texts = JSON.parse(await readFile(given, 'utf8'));
await writeFile(made, JSON.stringify(texts.map(pasted)));
