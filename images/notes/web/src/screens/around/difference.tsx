/** What changed between two versions or moments: the Markdown of both, with what was added and removed. */
import { useAnswer } from "./parts";
import { words } from "../../app/words";
import { around } from "./words";

interface Piece {
  kind: "same" | "added" | "removed";
  text: string;
}

interface Diff {
  old_title: string;
  new_title: string;
  pieces: Piece[];
}

/** So many unchanged lines are shown around a change. */
const NEAR = 3;

/** An unchanged part; the middle of a long one is folded. */
function Same({ text, isFirst, isLast }: { text: string; isFirst: boolean; isLast: boolean }) {
  const lines = text.split("\n");
  const head = isFirst ? 0 : NEAR;
  const tail = isLast ? 0 : NEAR;
  const hidden = lines.length - head - tail;
  if (hidden < NEAR) return <>{text}</>;
  const middle = lines.slice(head, lines.length - tail).join("\n");
  return (
    <>
      {lines.slice(0, head).join("\n")}
      <details>
        <summary>{around.value.unchanged(hidden)}</summary>
        {middle}
      </details>
      {tail > 0 && lines.slice(-tail).join("\n")}
    </>
  );
}

/** The server's answer to `path`. */
export function Difference({ path }: { path: string }) {
  const a = around.value;
  const found = useAnswer<Diff>(path);
  const diff = found.answer;
  if (!diff) {
    return (
      <p class="faint" role="status">
        {found.problem ? (found.detail ?? words.value.failed) : words.value.loading}
      </p>
    );
  }
  const isSame = diff.pieces.every((piece) => piece.kind === "same");
  const isRenamed = diff.old_title !== diff.new_title;
  return (
    <>
      {isRenamed && (
        <p class="difference" dir="auto">
          <span class="faint">{a.titleWas}: </span>
          <del>{diff.old_title}</del> <ins>{diff.new_title}</ins>
        </p>
      )}
      {isSame && !isRenamed && <p class="faint">{a.noDifference}</p>}
      {!isSame && (
        <div class="difference" dir="auto">
          {diff.pieces.map((piece, at) => {
            if (piece.kind === "same") {
              const isLast = at === diff.pieces.length - 1;
              return <Same key={at} text={piece.text} isFirst={at === 0} isLast={isLast} />;
            }
            const Tag = piece.kind === "added" ? "ins" : "del";
            return (
              <Tag key={at}>
                <span class="unseen">{piece.kind === "added" ? a.added : a.removed}: </span>
                {piece.text}
              </Tag>
            );
          })}
        </div>
      )}
    </>
  );
}
