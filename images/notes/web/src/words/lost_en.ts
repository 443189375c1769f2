/** English, for texts and files whose pages are gone. */
const rules = new Intl.PluralRules("en");

export const en = {
  texts: (n: number) =>
    rules.select(n) === "one"
      ? "A page on which you wrote is gone, or you may not write there any more. Your text is kept in this browser."
      : `${n.toLocaleString("en")} pages on which you wrote are gone, or you may not write there any more. Your texts are kept in this browser.`,
  damaged:
    "What this browser has stored of the page is damaged, or of another version of the workspace. These words of yours are not sent.",
  damagedTexts: (n: number) =>
    rules.select(n) === "one"
      ? "Text that you wrote cannot be brought to its page. Its words are kept in this browser."
      : `Texts that you wrote on ${n.toLocaleString("en")} pages cannot be brought there. Their words are kept in this browser.`,
  wholeText: (title: string) => `The text of “${title}”`,
  inSpace: "Save in the space",
  saveAsNew: "Save as a new page",
  saved: (title: string) => `“${title}” is saved as a new page.`,
  saveAsFile: "Save as a file",
  textSaved: (name: string) =>
    `${name} is among your downloads. The text stays in this browser until you give it up.`,
  elsewhere: "Another tab has saved this text, or given it up.",
  noSpace: "There is no space in which you may make pages.",
  giveUp: "Give it up",
  giveUpAsk: (title: string, files: number) =>
    files
      ? `Delete your text of “${title}” from this browser, with the ${files === 1 ? "file" : `${files.toLocaleString("en")} files`} that you added there?`
      : `Delete your text of “${title}” from this browser?`,
  givenUp: "The text is deleted.",
  files: (n: number) =>
    rules.select(n) === "one"
      ? "A file that you added to a page cannot be brought there. It is kept in this browser."
      : `${n.toLocaleString("en")} files that you added to pages cannot be brought there. They are kept in this browser.`,
  takesNone: "The page is in the trash, or you may not write there any more.",
  noBytes: (name: string) => `This browser had no room to keep ${name}.`,
  fileSaved: (name: string) => `${name} is among your downloads.`,
  deleteFile: "Delete it",
  deleteFileAsk: (name: string) => `Delete ${name} from this browser?`,
  fileDeleted: "The file is deleted.",
};

export type LostWords = typeof en;
