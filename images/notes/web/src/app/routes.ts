/** The addresses of the workspace. Decides from the address alone. */

/** The parts of the administration, in the order of their tabs. */
export const ADMIN_PARTS = [
  "people",
  "groups",
  "limits",
  "domains",
  "sign-on",
  "audit",
  "first-steps",
] as const;
export type AdminPart = (typeof ADMIN_PARTS)[number];

export type Route =
  | { screen: "home" }
  | { screen: "page"; id: string }
  | { screen: "space"; id: string }
  | { screen: "search"; query: string; space: string }
  | { screen: "person"; id: string }
  | { screen: "settings" }
  | { screen: "share"; id: string }
  | { screen: "files"; id: string }
  | { screen: "audit"; id: string }
  | { screen: "history"; id: string; version: number; old: number }
  | { screen: "trash"; id: string }
  | { screen: "manage"; id: string }
  | { screen: "import"; id: string; parent: string; job: string }
  | { screen: "export"; id: string; from: "page" | "space" }
  | { screen: "jobs" }
  | { screen: "notifications" }
  | { screen: "setup" }
  | { screen: "account" }
  | { screen: "admin"; part: AdminPart }
  | { screen: "nowhere" };

const ID = "([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})";
const PAGE = new RegExp(`^(?:/w)?/p/${ID}$`);
const SPACE = new RegExp(`^(?:/w)?/(?:s|spaces)/${ID}$`);

const AROUND = new RegExp(`^/w/p/${ID}/(share|files|audit|history)$`);
const PERSON = new RegExp(`^/w/people/${ID}$`);
const TRASH = new RegExp(`^/w/s/${ID}/trash$`);
const MANAGE = new RegExp(`^/w/s/${ID}/settings$`);

/** The screens around a page, and the trash of a space. */
function aroundOf(path: string, query: string): Route | undefined {
  const trash = TRASH.exec(path)?.[1];
  if (trash) return { screen: "trash", id: trash };
  const [, id, part] = AROUND.exec(path) ?? [];
  if (!id) return undefined;
  if (part === "share" || part === "files" || part === "audit") return { screen: part, id };
  const asked = new URLSearchParams(query);
  const number = (name: string): number =>
    /^[1-9]\d{0,8}$/.test(asked.get(name) ?? "") ? Number(asked.get(name)) : 0;
  return { screen: "history", id, version: number("version"), old: number("old") };
}

const TRANSFER = new RegExp(`^/w/s/${ID}/import$`);

const EXPORT = new RegExp(`^/w/(p|s)/${ID}/export$`);

/** The address of the notifications. */
export const TOLD_PATH = "/w/notifications";

/** The screens that move pages in and out, and those of what goes on. */
function transferOf(path: string, query: string): Route | undefined {
  if (path === "/w/setup") return { screen: "setup" };
  if (path === "/w/jobs") return { screen: "jobs" };
  if (path === TOLD_PATH) return { screen: "notifications" };
  const [, kind, out] = EXPORT.exec(path) ?? [];
  if (out) return { screen: "export", id: out, from: kind === "s" ? "space" : "page" };
  const into = TRANSFER.exec(path)?.[1];
  if (!into) return undefined;
  const asked = new URLSearchParams(query);
  const id = (name: string): string =>
    new RegExp(`^${ID}$`).test(asked.get(name) ?? "") ? (asked.get(name) ?? "") : "";
  return { screen: "import", id: into, parent: id("parent"), job: id("job") };
}

/** The screen of an address below `/w`. */
export function routeOf(path: string, query: string): Route {
  const page = PAGE.exec(path)?.[1];
  if (page) return { screen: "page", id: page };
  const space = SPACE.exec(path)?.[1];
  if (space) return { screen: "space", id: space };
  const managed = MANAGE.exec(path)?.[1];
  if (managed) return { screen: "manage", id: managed };
  if (path === "/w" || path === "/w/") return { screen: "home" };
  if (path === "/w/settings") return { screen: "settings" };
  if (path === "/w/account") return { screen: "account" };
  if (path === "/w/admin") return { screen: "admin", part: "people" };
  const part = ADMIN_PARTS.find((one) => path === adminPath(one));
  if (part) return { screen: "admin", part };
  if (path === "/w/search") {
    const asked = new URLSearchParams(query);
    const space = asked.get("space") ?? "";
    const isId = new RegExp(`^${ID}$`).test(space);
    return { screen: "search", query: asked.get("q") ?? "", space: isId ? space : "" };
  }
  const person = PERSON.exec(path)?.[1];
  if (person) return { screen: "person", id: person };
  return transferOf(path, query) ?? aroundOf(path, query) ?? { screen: "nowhere" };
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
/** The page that a screen shows, or that it is about; empty for another screen. */
export const pageOf = (route: Route): string =>
  route.screen === "page" ||
  route.screen === "share" ||
  route.screen === "files" ||
  route.screen === "audit" ||
  route.screen === "history" ||
  (route.screen === "export" && route.from === "page")
    ? route.id
    : "";

/** The address of a person. */
export const personPath = (id: string): string => `/w/people/${id}`;
/** The address of the search: in all spaces, or in one. */
export function searchPath(text: string, space = ""): string {
  const asked = new URLSearchParams({ ...(text && { q: text }), ...(space && { space }) });
  return `/w/search${asked.size ? `?${asked}` : ""}`;
}
export const filesPath = (id: string): string => `/w/p/${id}/files`;
/** The address of the audit log's entries about a page. */
export const auditPath = (id: string): string => `/w/p/${id}/audit`;
export const sharePath = (id: string): string => `/w/p/${id}/share`;
/** The address of a space's settings. */
export const managePath = (id: string): string => `/w/s/${id}/settings`;
export const trashPath = (id: string): string => `/w/s/${id}/trash`;

/** The address of a page's history: the list, one version, or what changed between two. */
export function historyPath(id: string, version = 0, old = 0): string {
  const query = version ? `?version=${version}${old ? `&old=${old}` : ""}` : "";
  return `/w/p/${id}/history${query}`;
}
export const exportPath = (from: "page" | "space", id: string): string =>
  `/w/${from === "space" ? "s" : "p"}/${id}/export`;
/** The address of an import: its first step, or a job. */
export function importPath(space: string, job = "", parent = ""): string {
  const query = job ? `?job=${job}` : parent ? `?parent=${parent}` : "";
  return `/w/s/${space}/import${query}`;
}
export const adminPath = (part: AdminPart): string => `/w/admin/${part}`;
