// Renders each Markdown text of a JSON list on stdin as HTML with commonmark.js.
import { readFileSync } from 'node:fs';
import { HtmlRenderer, Parser } from 'commonmark';

const texts = JSON.parse(readFileSync(0, 'utf8'));
const parser = new Parser();
const renderer = new HtmlRenderer();
process.stdout.write(JSON.stringify(texts.map((text) => renderer.render(parser.parse(text)))));
