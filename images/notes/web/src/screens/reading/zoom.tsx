/** A picture of the text over the whole window, as large as it is or as the window. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { words } from "../../app/words";
import { textOfPage } from "../beside/marks";
import { reading } from "./words";

/** Pictures that are links stay links. */
const PICTURES = "img:not(a img)";

/** Makes each picture of the text a button, and tells which one is pressed. */
export function usePictures(text: unknown, pressed: (picture: HTMLImageElement) => void): void {
  const w = reading.value;
  useEffect(() => {
    const root = textOfPage();
    for (const one of root?.querySelectorAll<HTMLImageElement>(PICTURES) ?? []) {
      one.tabIndex = 0;
      one.setAttribute("role", "button");
      one.ariaLabel = w.enlarge(one.alt);
    }
    const pictureOf = (event: Event): HTMLImageElement | undefined =>
      event.target instanceof HTMLImageElement && event.target.matches(PICTURES)
        ? event.target
        : undefined;
    const onClick = (event: MouseEvent): void => {
      const found = pictureOf(event);
      if (found) pressed(found);
    };
    const onKey = (event: KeyboardEvent): void => {
      const found = event.key === "Enter" || event.key === " " ? pictureOf(event) : undefined;
      if (!found) return;
      event.preventDefault();
      pressed(found);
    };
    root?.addEventListener("click", onClick);
    root?.addEventListener("keydown", onKey);
    return () => {
      root?.removeEventListener("click", onClick);
      root?.removeEventListener("keydown", onKey);
    };
  }, [text, w]);
}

export function Zoom({ picture, close }: { picture: HTMLImageElement; close: () => void }) {
  const r = reading.value;
  const ref = useRef<HTMLDialogElement>(null);
  const [isActual, setActual] = useState(false);
  useLayoutEffect(() => {
    ref.current?.showModal();
    return () => picture.focus({ preventScroll: true });
  }, []);
  return (
    <dialog ref={ref} class="zoom" aria-label={picture.alt || r.picture} onClose={close}>
      <div class="zoom-bar">
        <button type="button" onClick={() => setActual(!isActual)} autofocus>
          {isActual ? r.fit : r.actual}
        </button>
        <button type="button" onClick={() => ref.current?.close()}>
          {words.value.close}
        </button>
      </div>
      <div class={`zoom-place${isActual ? " actual" : ""}`} tabIndex={isActual ? 0 : -1}>
        <img
          src={picture.currentSrc || picture.src}
          alt={picture.alt}
          onClick={() => setActual(!isActual)}
        />
      </div>
    </dialog>
  );
}
