/** The words of import, export, jobs and setup, in the language of the workspace. */
import { wordsOf } from "../../app/part_words";
import { en } from "../../words/transfer_en";

export const { words: transfer, ready } = wordsOf("transfer", en);
