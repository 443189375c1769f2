// What the build puts into the workspace for the languages that there is a folder of words for.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const WORDS = join(dirname(fileURLToPath(import.meta.url)), "src/words");
const folders = readdirSync(WORDS, { withFileTypes: true }).filter((one) => one.isDirectory());

const names = folders.map((one) => one.name).sort();

export const LANGUAGES = { LANGUAGES: JSON.stringify(names) };

/** What the shell tells without scripts, in each of these languages; English is in the shell. */
export const NO_SCRIPT = names
  .map((name) => readFileSync(join(WORDS, name, "no_script.html"), "utf8").trim())
  .join("");
