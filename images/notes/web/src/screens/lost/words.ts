/** The words for texts and files whose pages are gone, in the language of the workspace. */
import { wordsOf } from "../../app/part_words";
import { en } from "../../words/lost_en";

export const { words: lostWords, ready } = wordsOf("lost", en);
