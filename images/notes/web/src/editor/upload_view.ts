/** A file on its way, drawn in the text: name, progress, and what a person can do about it. */
import { words } from "../app/words";
import type { Upload } from "./uploads";

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
  const { file } = upload;
  const dom = made("span", { className: "upload", contentEditable: "false" });
  const name = made("span", { className: "upload-name", textContent: file.name, dir: "auto" });
  const progress = made("progress", { max: 1, ariaLabel: w.uploading(file.name) });
  const cancel = button(w.cancel, () => upload.remove());
  const why = made("span", { className: "upload-why" });
  const retry = button(w.retry, () => void upload.start());
  const keep = button(w.saveFile, () => save(file));
  const remove = button(w.remove, () => upload.remove());
  const show = (): void => {
    progress.value = upload.share;
    const isFailed = upload.reason !== "";
    if (dom.dataset.state === String(isFailed)) return;
    dom.dataset.state = String(isFailed);
    const wasFocused = dom.contains(document.activeElement);
    why.textContent = w.uploadFailed(file.name, upload.reason);
    dom.replaceChildren(...(isFailed ? [why, retry, keep, remove] : [name, progress, cancel]));
    if (wasFocused) (isFailed ? retry : cancel).focus();
  };
  show();
  upload.show = show;
  return dom;
}
