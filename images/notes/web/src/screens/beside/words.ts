/** The words of what is beside a page, in the language of the workspace. */
import { wordsOf } from "../../app/part_words";
import { en } from "../../words/beside_en";

export const { words: beside, ready } = wordsOf("beside", en);
