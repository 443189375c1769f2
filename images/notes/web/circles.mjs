// Finds modules of the workspace that import each other in a circle; an import of types counts as well.
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";

const IMPORT = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

/** The imports of each module below a folder: `{module: [modules]}`, as paths from that folder. */
async function importsIn(folder) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
  const known = new Map(names.map((name) => [name.replace(/\.tsx?$/, ""), name]));
  const found = {};
  for (const name of names) {
    const text = await readFile(join(folder, name), "utf8");
    const paths = [...text.matchAll(IMPORT)].map((one) => normalize(join(dirname(name), one[1])));
    found[name] = paths.map((path) => known.get(path)).filter(Boolean);
  }
  return found;
}

/** One circle, as a list of modules that begins and ends with the same one; none if there is none. */
function circleIn(imports) {
  const state = new Map();
  const walk = (name, way) => {
    if (state.get(name) === "done") return undefined;
    if (state.get(name) === "open") return [...way.slice(way.indexOf(name)), name];
    state.set(name, "open");
    for (const next of imports[name]) {
      const found = walk(next, [...way, name]);
      if (found) return found;
    }
    state.set(name, "done");
    return undefined;
  };
  for (const name of Object.keys(imports)) {
    const found = walk(name, []);
    if (found) return found;
  }
  return undefined;
}

/** Says which modules import each other; 1 if any do. */
export async function circles(folder) {
  const imports = await importsIn(folder);
  const found = circleIn(imports);
  if (found) console.error(`${folder}: modules import each other (${found.join(" -> ")})`);
  return found || Object.keys(imports).length === 0 ? 1 : 0;
}
