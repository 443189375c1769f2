"use strict";
// Keeps an open page up to date. The page is the same without it, as of its last loading.
(() => {
  const live = document.getElementById("live");
  const say = (word) => { if (live.textContent !== word) live.textContent = word; };
  let busy = false, again = false;

  const isWriting = () => document.activeElement && document.activeElement.tagName === "INPUT";

  async function refresh() {
    if (document.hidden || isWriting()) { again = true; return; }
    if (busy) { again = true; return; }
    busy = true; again = false;
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (isWriting()) { again = true; return; }
      const focused = document.activeElement && document.activeElement.getAttribute("href");
      for (const place of ["main", "footer"]) {
        const now = document.querySelector(place), next = fresh.querySelector(place);
        if (now && next && now.innerHTML !== next.innerHTML) now.replaceChildren(...next.childNodes);
      }
      document.title = fresh.title || document.title;
      const back = focused && [...document.links].find((one) => one.getAttribute("href") === focused);
      if (back && document.activeElement !== back) back.focus({ preventScroll: true });
      say("live");
    } catch { say("not live"); } finally { busy = false; }
  }

  const news = new EventSource("/events");
  news.addEventListener("pass", refresh);
  news.addEventListener("open", () => say("live"));
  news.addEventListener("error", () => say("not live"));
  document.addEventListener("visibilitychange", () => { if (again) refresh(); });
  document.addEventListener("focusout", () => setTimeout(() => { if (again) refresh(); }, 0));
})();
