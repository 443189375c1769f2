/** The words of the screens around a page, in the language of the workspace. */
import { wordsOf } from "../../app/part_words";
import { en } from "../../words/around_en";

export const { words: around, ready } = wordsOf("around", en);
