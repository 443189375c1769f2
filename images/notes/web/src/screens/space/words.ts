/** The words of a space's settings and of the installation's, in the language of the workspace. */
import { wordsOf } from "../../app/part_words";
import { en } from "../../words/manage_en";

export const { words: manage, ready } = wordsOf("manage", en);
