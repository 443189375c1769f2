/** The plugin for pasted Markdown, with the words and the notices of the workspace. */
import { notice } from "../app/store";
import { catalogue } from "../app/words";
import { load } from "../words/catalogues";
import { pastes } from "./pasted";

export const pastesHere = () =>
  pastes({
    words: (en) => load("pasted", catalogue.value, en),
    say: (text) => {
      notice.value = text;
    },
  });
