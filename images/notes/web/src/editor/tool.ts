/** A button of the bars above the text. */
import type { Command } from "prosemirror-state";

export interface Tool {
  sign: string;
  name: string;
  run: Command;
  isOn?: boolean;
}
