/** English, for the dialogs that are fetched when they are opened. */

const rules = new Intl.PluralRules("en");
const count = (n: number, one: string, other: string): string =>
  `${n.toLocaleString("en")} ${rules.select(n) === "one" ? one : other}`;

export const en = {
  inSpace: "Space",
  from: "Begin with",
  empty: "An empty page",
  copyOf: (title: string) => `A copy of “${title}”`,
  template: (title: string) => `Template “${title}”`,
  isTemplate: "Keep it as a template",
  isTemplateText: "It is offered for each new page of this space.",
  sharedText: "Text",
  madeHere: "The page is kept on this device. The server makes it when you are online again.",
  notStoredHere: "That page is not stored on this device. Begin with an empty page.",
  noSpace: "There is no space in which you may write.",
  unsentPages: (n: number) =>
    `${count(n, "page has", "pages have")} changes or files that the server does not have yet.`,
  signOutSend: "Send them, then sign out",
  signOutKeep: "Sign out and keep them on this device",
  stillUnsent: "The server did not take all of them yet. Try again, or keep them on this device.",
  signOutAsk: "Sign out of this browser?",
  signOutStored: (n: number) =>
    `${count(n, "page is", "pages are")} stored on this device for offline reading. They stay hidden until you sign in again.`,
  signOutClear: "Sign out and delete them",
  expired: "Your sign-in has expired",
  expiredText:
    "Sign in again to go on where you were. What you wrote stays here; what the server does not have yet is kept on this device and sent then.",
  organisation: "Sign in with your organisation",
  email: "E-mail address",
  password: "Password",
  somebodyElse: "Sign in as somebody else",
  signedInAgain: "You are signed in again.",
  treeKeys: "In the page tree: move; right and left open and close",
};

export type AskedWords = typeof en;
