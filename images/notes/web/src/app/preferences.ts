/** Settings of this browser: theme, language, shortcuts, sidebar. */
import { effect, signal } from "@preact/signals";
import { useLanguage } from "./words";

export type Theme = "system" | "light" | "dark";

export interface Preferences {
  theme: Theme;
  language: string;
  singleKeys: boolean;
  sidebar: boolean;
  /** True if the editor draws all blocks of a large page. */
  wholePage: boolean;
  /** True until the home screen is to show the steps after the setup no more. */
  firstSteps: boolean;
  space: string;
  open: string[];
}

const NAME = "notes-preferences";
const DEFAULTS: Preferences = {
  theme: "system",
  language: "",
  singleKeys: true,
  sidebar: true,
  wholePage: false,
  firstSteps: true,
  space: "",
  open: [],
};

function stored(): Partial<Preferences> {
  try {
    return JSON.parse(localStorage.getItem(NAME) ?? "{}");
  } catch {
    return {};
  }
}

export const preferences = signal<Preferences>({ ...DEFAULTS, ...stored() });

/** Changes settings; what another tab has chosen meanwhile stays, but for what is shown in this one. */
export function prefer(change: Partial<Preferences>): void {
  const before = preferences.value;
  const { theme, language, singleKeys, wholePage, firstSteps } = { ...before, ...stored() };
  preferences.value = {
    ...before,
    theme,
    language,
    singleKeys,
    wholePage,
    firstSteps,
    ...change,
  };
}

/** Applies the settings, and stores every change. */
export function startPreferences(): void {
  let language: string | undefined;
  effect(() => {
    const current = preferences.value;
    document.documentElement.dataset.theme = current.theme;
    if (current.language !== language) {
      language = current.language;
      void useLanguage(language ? [language] : navigator.languages, language !== "");
    }
    try {
      localStorage.setItem(NAME, JSON.stringify(current));
    } catch {
      // A browser without storage keeps the settings until the tab is closed.
    }
  });
}
