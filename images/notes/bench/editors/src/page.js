// The page of a measured editor: a stored document, and a button that opens it for editing.

const place = document.querySelector("#place");
const button = document.querySelector("button");

/**
 * Shows the button as soon as the document is there.
 *
 * `make(doc)` turns the bench's document into a Yjs update, as a server would store it;
 * `open(update, place)` shows the editor of such an update.
 */
export function page({ make, open }) {
  const number = new URLSearchParams(location.search).get("blocks");
  globalThis.make = async () => make(await (await fetch(`/documents/${number}.json`)).json());
  const wanted = new URLSearchParams(location.search).get("update");
  if (!wanted) return;
  fetch(`/updates/${wanted}`)
    .then((answer) => answer.arrayBuffer())
    .then((bytes) => {
      button.addEventListener("click", () => open(new Uint8Array(bytes), place), { once: true });
      button.hidden = false;
    });
}
