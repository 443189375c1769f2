/** The addresses of the workspace. Decides from the address alone. */

export type Route =
  | { screen: "home" }
  | { screen: "page"; id: string }
  | { screen: "space"; id: string }
  | { screen: "search"; query: string }
  | { screen: "settings" }
  | { screen: "nowhere" };

const ID = "([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})";
const PAGE = new RegExp(`^(?:/w)?/p/${ID}$`);
const SPACE = new RegExp(`^(?:/w)?/(?:s|spaces)/${ID}$`);

/** The screen of an address below `/w`. */
export function routeOf(path: string, query: string): Route {
  const page = PAGE.exec(path)?.[1];
  if (page) return { screen: "page", id: page };
  const space = SPACE.exec(path)?.[1];
  if (space) return { screen: "space", id: space };
  if (path === "/w" || path === "/w/") return { screen: "home" };
  if (path === "/w/settings") return { screen: "settings" };
  if (path === "/w/search") {
    return { screen: "search", query: new URLSearchParams(query).get("q") ?? "" };
  }
  return { screen: "nowhere" };
}

/**
 * The workspace's address for a link that was followed; undefined if the link leads elsewhere.
 * A plain link to a page (`/p/…`) opens in the workspace.
 */
export function inWorkspace(url: URL, origin: string): string | undefined {
  if (url.origin !== origin) return undefined;
  if (PAGE.test(url.pathname) && !url.pathname.startsWith("/w"))
    return `/w${url.pathname}${url.hash}`;
  const isOurs = url.pathname === "/w" || url.pathname.startsWith("/w/");
  return isOurs ? url.pathname + url.search + url.hash : undefined;
}

export const pagePath = (id: string): string => `/w/p/${id}`;
export const spacePath = (id: string): string => `/w/s/${id}`;
