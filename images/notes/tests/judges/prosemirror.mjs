// Applies, inverts and maps steps with ProseMirror itself. Reads one case a line, writes one answer a line.
import { createInterface } from "node:readline";
import { Schema, Node } from "prosemirror-model";
import { Step, Mapping } from "prosemirror-transform";

let schema;
const judge = ({ doc: given, step: sent, other, positions }) => {
  const doc = Node.fromJSON(schema, given);
  const answer = {};
  try {
    const step = Step.fromJSON(schema, sent);
    const result = step.apply(doc);
    if (!result.doc) return { failed: result.failed };
    result.doc.check();
    const inverse = step.invert(doc);
    answer.doc = result.doc.toJSON();
    answer.inverse = inverse.toJSON();
    answer.undone = inverse.apply(result.doc).doc?.toJSON() ?? null;
    const map = step.getMap();
    answer.mapped = positions.map(([at, side]) => {
      const found = map.mapResult(at, side);
      return [found.pos, found.deletedAfter, found.deletedAcross];
    });
    answer.back = positions.map(([at, side]) => map.invert().map(at, side));
    const rebased = Step.fromJSON(schema, other).map(new Mapping([map]));
    answer.rebased = rebased && rebased.toJSON();
  } catch (error) {
    return { failed: String(error) };
  }
  return answer;
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  if (asked.schema) schema = new Schema(asked.schema);
  else process.stdout.write(`${JSON.stringify(judge(asked))}\n`);
}
