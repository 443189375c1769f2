// Where a page was read, after a reload and after "forward".
import "./browser";
import assert from "node:assert/strict";
import { test } from "node:test";

const region = { scrollTop: 0 };
const heard = new Map<string, (event: unknown) => void>();
const hear = (kind: string, act: () => void): unknown => heard.set(kind, act);
/** As a browser has it when a page was read to here, and is loaded again. */
const history = {
  state: { scroll: 800 } as { scroll?: number },
  replaceState: (state: object) => Object.assign(history, { state }),
  pushState(state: object, _: string, pathname: string): void {
    Object.assign(history, { state });
    Object.assign(location, { pathname });
  },
};
Object.assign(globalThis, { history, addEventListener: hear });
Object.assign(document, {
  addEventListener: hear,
  getElementById: (id: string) => (id === "main" ? region : null),
});
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

test("the place of a page is kept", async (all) => {
  const { arrive, go, startRouter, visit } = await import("../../src/app/router");
  startRouter();
  await all.test("by a reload, also by one before the page is drawn", () => {
    assert.equal(visit.value.scroll, 800);
    heard.get("pagehide")?.({});
    assert.equal(history.state.scroll, 800);
    arrive();
    assert.equal(region.scrollTop, 800);
  });
  await all.test("while one scrolls", async () => {
    region.scrollTop = 900;
    heard.get("scroll")?.({ target: region });
    await pause(600);
    assert.equal(history.state.scroll, 900);
  });
  await all.test("and no other page gets it", async () => {
    heard.get("scroll")?.({ target: region });
    go("/w");
    await pause(600);
    assert.equal(history.state.scroll, undefined);
    arrive();
    assert.equal(region.scrollTop, 0);
  });
  await all.test("on a screen to which one has gone again", () => {
    go("/w");
    region.scrollTop = 70;
    heard.get("pagehide")?.({});
    assert.equal(history.state.scroll, 70);
  });
  await all.test("by forward", () => {
    Object.assign(history, { state: { scroll: 900 } });
    heard.get("popstate")?.({});
    arrive();
    assert.equal(region.scrollTop, 900);
  });
});
