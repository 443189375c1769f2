/**
 * The pictures of a page that lie on other sites: none of them is loaded, neither here nor by the server. Their person
 * opens the address, and gives the picture as a file: it takes the place of the address in the text.
 */
import type { Node } from "prosemirror-model";
import type { EditorView } from "prosemirror-view";
import { useEffect, useState } from "preact/hooks";
import { notice } from "../app/store";
import { en, type WritingWords } from "../words/writing_en";

/** Given, not imported: this chunk imports nothing of the editor, which that would split. */
export interface Around {
  view: EditorView;
  /** The document with what is typed. */
  doc: Node;
  isForeign: (node: Node) => boolean;
  words: (en: WritingWords) => Promise<WritingWords>;
  /** Uploads a file to a place, instead of the picture with the address `src` that is before it. */
  upload: (file: File, pos: number, src: string) => void;
  select: (pos: number) => void;
}

const SHOWN = /^image\/(avif|gif|jpeg|png|svg\+xml|webp)$/;
const MOST_LISTED = 50;

interface Foreign {
  pos: number;
  src: string;
  alt: string;
}

function foreignOf(doc: Node, isForeign: Around["isForeign"]): Foreign[] {
  const found: Foreign[] = [];
  doc.descendants((one, pos) => {
    if (isForeign(one)) found.push({ pos, src: String(one.attrs.src), alt: one.attrs.alt ?? "" });
    return found.length < MOST_LISTED;
  });
  return found;
}

/** Asks for the file of a picture, and uploads it in its place. */
function choose({ view, isForeign, upload }: Around, { src, pos }: Foreign, w: WritingWords): void {
  const field = document.createElement("input");
  Object.assign(field, { type: "file", accept: "image/*" });
  field.addEventListener("change", () => {
    const file = field.files?.[0];
    if (!file || view.isDestroyed) return;
    if (!SHOWN.test(file.type)) {
      notice.value = w.noPicture(file.name);
      return;
    }
    // Meanwhile somebody may have written before it.
    const now = foreignOf(view.state.doc, isForeign).filter((one) => one.src === src);
    const near = now.sort((a, b) => Math.abs(a.pos - pos) - Math.abs(b.pos - pos))[0];
    if (near) upload(file, near.pos + 1, src);
  });
  field.click();
}

export function ForeignPictures(given: Around) {
  const { doc, isForeign, words, select } = given;
  const [w, setWords] = useState<WritingWords>();
  useEffect(() => {
    words(en).then(setWords, () => setWords(en));
  }, []);
  const found = foreignOf(doc, isForeign);
  if (!w || !found.length) return null;
  return (
    <details class="refused doubts foreign">
      <summary>{w.foreign(found.length)}</summary>
      <p>{w.foreignText}</p>
      <ul>
        {found.map((one) => (
          <li key={`${one.pos} ${one.src}`} data-foreign={one.src}>
            <p>
              {one.alt && (
                <>
                  <span dir="auto">{one.alt}</span> ·{" "}
                </>
              )}
              {/^https?:\/\//i.test(one.src) ? (
                <a href={one.src} target="_blank" rel="noopener noreferrer" dir="ltr">
                  {one.src}
                </a>
              ) : (
                <span dir="ltr">{one.src}</span>
              )}
            </p>
            <div class="buttons">
              <button
                type="button"
                aria-label={`${w.chooseFile}: ${one.alt || one.src}`}
                onClick={() => choose(given, one, w)}
              >
                {w.chooseFile}
              </button>
              <button
                type="button"
                aria-label={`${w.showPicture}: ${one.alt || one.src}`}
                onClick={() => select(one.pos)}
              >
                {w.showPicture}
              </button>
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}
