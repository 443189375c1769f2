/** The words of what is done with a text that is read, in the language of the workspace. */
import { wordsOf } from "../../app/part_words";
import { en } from "../../words/reading_en";

export const { words: reading, ready } = wordsOf("reading", en);
