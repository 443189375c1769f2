// What esbuild puts into the workspace for the languages that there is a folder of words for.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const WORDS = join(dirname(fileURLToPath(import.meta.url)), "src/words");
const folders = readdirSync(WORDS, { withFileTypes: true }).filter((one) => one.isDirectory());

export const LANGUAGES = { LANGUAGES: JSON.stringify(folders.map((one) => one.name).sort()) };
