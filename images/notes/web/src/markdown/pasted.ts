/**
 * What the editor needs when Markdown is pasted: the parser, and the words that are said. It imports nothing of the
 * first chunk: that would split it.
 */
export { en } from "../words/pasted_en";
export { parse } from "./parse";
