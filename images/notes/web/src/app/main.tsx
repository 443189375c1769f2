/** The workspace: starts the parts, and draws the sidebar beside the screen of the address. */
import { effect } from "@preact/signals";
import { type FunctionComponent, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { listen } from "../api/client";
import { AccountScreen, AdminScreen } from "../screens/admin/lazy";
import { Beside, Dialogs } from "../screens/beside/lazy";
import { HomeScreen, SpaceScreen } from "../screens/home";
import { Lazy } from "../screens/lazy";
import { Message } from "../screens/message";
import { PageScreen } from "../screens/page";
import { Sidebar } from "../screens/sidebar";
import { TopBar, Unsent } from "../screens/topbar";
import { hasLost } from "./comments";
import { dialog } from "./commands";
import { onKey } from "./keys";
import { isDrawerOpen, isNarrow } from "./layout";
import { Notice } from "./dialogs";
import { reached, sendLeft, startLive } from "./live";
import { Palette } from "./palette";
import { preferences, startPreferences } from "./preferences";
import { startPresence } from "./presence";
import { route, startRouter, visit } from "./router";
import { historyPath, importPath } from "./routes";
import { endSignIn, question, refresh, signInPath, start, whenExpired } from "./session";
import { phase } from "./store";
import { hasUpdate, startUpdates, useUpdate } from "./updates";
import { words } from "./words";

/** The screens that are fetched when they are opened. */
const PARTS = {
  share: () => import("../screens/around/share"),
  history: () => import("../screens/around/history"),
  files: () => import("../screens/around/files"),
  audit: () => import("../screens/admin/page_audit"),
  person: () => import("../screens/around/person"),
  trash: () => import("../screens/around/trash"),
  manage: () => import("../screens/space/settings"),
  import: () => import("../screens/transfer/import"),
  export: () => import("../screens/transfer/export"),
  jobs: () => import("../screens/transfer/jobs"),
  notifications: () => import("../screens/told/list"),
  search: () => import("../screens/search"),
  setup: () => import("../screens/setup/setup"),
  settings: () => import("../screens/settings"),
};

function Screen() {
  const shown = route.value;
  const w = words.value;
  switch (shown.screen) {
    case "home":
      return <HomeScreen />;
    case "page":
      return <PageScreen key={shown.id} id={shown.id} />;
    case "space":
      return <SpaceScreen key={shown.id} id={shown.id} />;
    case "search":
      // A further visit is another search; what one types at this one is none.
      return (
        <Lazy
          key={visit.value.number}
          open={PARTS.search}
          query={shown.query}
          space={shown.space}
        />
      );
    case "settings":
      return <Lazy open={PARTS.settings} />;
    case "share":
    case "files":
    case "audit":
    case "person":
    case "trash":
    case "manage":
      return <Lazy key={shown.screen + shown.id} open={PARTS[shown.screen]} id={shown.id} />;
    case "history":
      return (
        <Lazy
          key={historyPath(shown.id, shown.version, shown.old)}
          open={PARTS.history}
          id={shown.id}
          version={shown.version}
          old={shown.old}
        />
      );
    case "import":
      return (
        <Lazy
          key={importPath(shown.id, shown.job, shown.parent)}
          open={PARTS.import}
          id={shown.id}
          parent={shown.parent}
          job={shown.job}
        />
      );
    case "account":
      return <AccountScreen />;
    case "admin":
      return <AdminScreen part={shown.part} />;
    case "export":
      return <Lazy key={`export${shown.id}`} open={PARTS.export} id={shown.id} from={shown.from} />;
    case "jobs":
    case "notifications":
      return <Lazy key={shown.screen} open={PARTS[shown.screen]} />;
    case "setup": // It is done already.
    case "nowhere":
      return <Message title={w.notFound} action={{ title: w.home, path: "/w" }} />;
  }
}

function UpdateBar() {
  const w = words.value;
  if (!hasUpdate.value) return null;
  return (
    <div class="update" role="status">
      {w.newVersion}
      <button type="button" onClick={useUpdate}>
        {w.reload}
      </button>
    </div>
  );
}

/** After how long a part that was not to be had is fetched again. */
const AGAIN_MS = 5000;

/** The list of what a failover has lost, fetched when there is something in it. */
function useLost(): FunctionComponent | false {
  const [list, setList] = useState<{ Lost: FunctionComponent }>();
  const isWanted = hasLost.value;
  useEffect(() => {
    const fetchList = (): void =>
      void import("../screens/lost/list").then(setList, () => setTimeout(fetchList, AGAIN_MS));
    if (isWanted) fetchList();
  }, [isWanted]);
  return isWanted && !!list && list.Lost;
}

function Workspace() {
  const w = words.value;
  const Lost = useLost();
  const isCovered = isNarrow.value && isDrawerOpen.value;
  const isShown = isNarrow.value ? isDrawerOpen.value : preferences.value.sidebar;
  useEffect(() => {
    if (!isCovered) return undefined;
    const before = document.activeElement;
    document.querySelector<HTMLElement>("#sidebar [data-first]")?.focus();
    const onEscape = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && !event.defaultPrevented) isDrawerOpen.value = false;
    };
    addEventListener("keydown", onEscape);
    return () => {
      removeEventListener("keydown", onEscape);
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [isCovered]);
  return (
    <div class={`workspace${isShown ? "" : " without-sidebar"}`}>
      <a class="skip" href="#main">
        {w.skip}
      </a>
      <aside aria-label={w.menu} class="side" inert={!isShown}>
        <Sidebar />
      </aside>
      {isCovered && (
        <div
          class="shade"
          onClick={() => {
            isDrawerOpen.value = false;
          }}
        />
      )}
      <div class="column" inert={isCovered}>
        <TopBar />
        {isNarrow.value && <Unsent />}
        {Lost && <Lost />}
        <main id="main" tabIndex={-1}>
          <Screen />
        </main>
        <UpdateBar />
      </div>
      <Beside />
    </div>
  );
}

function App() {
  const w = words.value;
  const now = phase.value;
  if (now === "starting") return <main id="main" aria-busy="true" />;
  if (now === "not set up")
    return (
      <main id="main" class="alone" tabIndex={-1}>
        <Lazy open={PARTS.setup} />
      </main>
    );
  if (now === "signed out" || now === "nobody offline") {
    const isOut = now === "signed out";
    return (
      <main id="main" class="alone" tabIndex={-1}>
        {isOut ? (
          <Message
            title={w.signedOut}
            text={w.signedOutText}
            action={{ title: w.signIn, path: signInPath() }}
          />
        ) : (
          <Message
            title={w.offlineNobody}
            text={w.offlineNobodyText}
            retry={() => void refresh()}
          />
        )}
      </main>
    );
  }
  const Question = question.value;
  return (
    <>
      <Workspace />
      {dialog.value === "palette" && <Palette />}
      <Dialogs />
      {Question && <Question />}
      <Notice />
    </>
  );
}

listen((hasExpired) => void endSignIn(hasExpired), reached);
startPreferences();
startRouter();
startLive();
startPresence();
addEventListener("keydown", onKey);
const root = document.getElementById("app");
whenExpired(() => import("../screens/asked/sign_in").then((part) => part.ask()));
const first = route.value;
const drawn = effect(() => {
  // What the server has drawn of the page stays until the same is drawn in its place.
  if (!root || (root.firstChild && phase.value === "starting" && route.value === first)) return;
  // Of what is not the same, nothing stays: a reader may be signed out meanwhile.
  if (phase.value !== "ready") root.replaceChildren();
  render(<App />, root);
  queueMicrotask(() => drawn());
});
void start().then(() => {
  if (/[?&](new|title|text|url)=/.test(location.search))
    void import("./shared").then(({ takeShared }) => takeShared());
  return sendLeft();
});
// Storing the shell must not compete with the first page.
setTimeout(() => void startUpdates().catch(() => undefined), 1500);
