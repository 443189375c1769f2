/** English, for the dialogs that are fetched when they are opened. */

export const en = {
  inSpace: "Space",
  from: "Begin with",
  empty: "An empty page",
  copyOf: (title: string) => `A copy of “${title}”`,
  template: (title: string) => `Template “${title}”`,
  isTemplate: "Keep it as a template",
  isTemplateText: "It is offered for each new page of this space.",
  sharedText: "Text",
  noSpace: "There is no space in which you may write.",
};

export type AskedWords = typeof en;
