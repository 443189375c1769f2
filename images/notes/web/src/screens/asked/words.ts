/** The words of the dialogs, in the language of the workspace. */
import { wordsOf } from "../../app/part_words";
import { en } from "../../words/asked_en";

export const { words: asked, ready } = wordsOf("asked", en);
