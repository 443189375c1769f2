/** A file on its way, drawn in the text: name, progress, and what a person can do about it. */
import { words } from "../app/words";
import { mayPause, type UploadState } from "../sync/upload_state";
import type { Upload } from "./one_upload";

const made = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  values: Partial<HTMLElementTagNameMap[K]>,
): HTMLElementTagNameMap[K] => Object.assign(document.createElement(tag), values);

const button = (textContent: string, act: () => void): HTMLButtonElement => {
  const found = made("button", { type: "button", textContent });
  found.addEventListener("click", act);
  return found;
};

/** Saves the file on the device: a pasted picture is nowhere else. */
function save(file: File): void {
  const href = URL.createObjectURL(file);
  made("a", { href, download: file.name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

export function draw(upload: Upload): HTMLElement {
  const w = words.value;
  const { name: called } = upload.kept;
  const dom = made("span", { className: "upload", contentEditable: "false" });
  const name = made("span", { className: "upload-name", textContent: called, dir: "auto" });
  const progress = made("progress", { max: 1, ariaLabel: w.uploading(called) });
  const cancel = button(w.cancel, () => upload.remove());
  const why = made("span", { className: "upload-why" });
  const retry = button(w.retry, () => void upload.start());
  const keep = button(w.saveFile, () => upload.file && save(upload.file));
  const choose = button(w.chooseFile, () => {
    const field = made("input", { type: "file" });
    field.addEventListener("change", () => field.files?.[0] && upload.choose(field.files[0]));
    field.click();
  });
  const remove = button(w.remove, () => upload.remove());
  const pause = button(w.pause, () => upload.pause());
  const resume = button(w.resume, () => upload.resume());
  // A screen reader reads which of several it is.
  for (const one of [pause, resume]) one.ariaLabel = `${one.textContent}: ${called}`;
  const parts = (): Record<UploadState, HTMLElement[]> => ({
    asked: [why, choose, remove],
    failed: [why, retry, keep, remove],
    paused: [why, progress, resume, cancel],
    sending: [name, progress, ...(mayPause(upload.kept.size) ? [pause] : []), cancel],
  });
  const show = (): void => {
    progress.value = upload.share;
    const { state } = upload;
    if (dom.dataset.state === state) return;
    dom.dataset.state = state;
    const wasFocused = dom.contains(document.activeElement);
    const said = {
      ...{ asked: `${called}: ${w.fileGone}`, paused: w.paused(called), sending: "" },
      failed: w.uploadFailed(called, upload.reason),
    };
    why.textContent = said[state];
    dom.replaceChildren(...parts()[state]);
    if (wasFocused) (dom.querySelector("button") ?? cancel).focus();
  };
  show();
  upload.show = show;
  return dom;
}
