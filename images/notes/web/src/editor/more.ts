/** What the open editor may need next, in one part: it is fetched when the text is shown. */
export { act, tools } from "./acts";
export { AltText } from "./alt_text";
export { LinkForm } from "./link_form";
