/** The words of the chosen language; English until another catalogue is loaded. */
import { signal } from "@preact/signals";
import { languages, load } from "../words/catalogues";
import { en, type Words } from "../words/en";

export const words = signal<Words>(en);
export const locale = signal("en");
/** The catalogue that is used: a language, or "qps" for the pseudo-language. */
export const catalogue = signal("en");
/** Tells the server the language of this browser's workspace, for its messages and plain pages. */
const COOKIE = "notes-language";
const YEAR_S = 365 * 86_400;
const FROM_THE_RIGHT = /^(ar|fa|he|qps|ur)$/;

/**
 * Loads the catalogue of the first of the languages that there is one for. A chosen one is that of
 * the server, too, for a year; another one until the browser is closed.
 */
export async function useLanguage(wanted: readonly string[], isChosen: boolean): Promise<void> {
  const found =
    wanted
      .map((tag) => tag.split("-", 1)[0] ?? "")
      .find((tag) => tag === "qps" || languages.includes(tag)) ?? "en";
  const secure = location.protocol === "https:" ? "; secure" : "";
  const age = isChosen ? `; max-age=${YEAR_S}` : "";
  document.cookie = `${COOKIE}=${found}; path=/; samesite=lax${age}${secure}`;
  words.value = await load("app", found, en);
  catalogue.value = found;
  locale.value = found === "qps" ? "en" : found;
  document.documentElement.lang = locale.value;
  document.documentElement.dir = FROM_THE_RIGHT.test(found) ? "rtl" : "ltr";
}

/** The first letters of the first and the last word of a name. */
export function initials(name: string): string {
  const parts = name.trim().split(/\s+/);
  const ends = parts.length > 1 ? [parts[0], parts.at(-1)] : [parts[0]];
  return ends.map((part) => [...(part ?? "")][0]?.toUpperCase() ?? "").join("");
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["minute", 60],
  ["hour", 3600],
  ["day", 86_400],
  ["week", 604_800],
];

/** A moment as people say it: "2 hours ago"; after four weeks the date. */
export function when(moment: string | number, now = Date.now()): string {
  const date = new Date(moment);
  const seconds = (now - date.getTime()) / 1000;
  if (seconds > 4 * 604_800) {
    return new Intl.DateTimeFormat(locale.value, { dateStyle: "medium" }).format(date);
  }
  const [unit, length] = [...STEPS].reverse().find((step) => seconds >= step[1]) ?? ["minute", 60];
  return new Intl.RelativeTimeFormat(locale.value, { numeric: "auto" }).format(
    -Math.max(0, Math.round(seconds / length)),
    unit,
  );
}

/** A number of bytes with its unit. */
export function size(bytes: number): string {
  const [unit, divisor] =
    bytes < 1e6
      ? (["kilobyte", 1e3] as const)
      : bytes < 1e9
        ? (["megabyte", 1e6] as const)
        : (["gigabyte", 1e9] as const);
  return new Intl.NumberFormat(locale.value, {
    style: "unit",
    unit,
    maximumFractionDigits: bytes < 1e6 ? 0 : 1,
  }).format(bytes / divisor);
}
