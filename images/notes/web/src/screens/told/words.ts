/** The words of the notifications, in the language of the workspace. */
import { wordsOf } from "../../app/part_words";
import { en } from "../../words/told_en";

export const { words: toldWords, ready } = wordsOf("told", en);
