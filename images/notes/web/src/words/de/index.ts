/** German: the words of the whole, and of each part when that is loaded. */
import type { Language } from "../catalogues";
import { words } from "./app";

export const language: Language = {
  app: async () => ({ words }),
  admin: () => import("./admin"),
  around: () => import("./around"),
  asked: () => import("./asked"),
  beside: () => import("./beside"),
  lost: () => import("./lost"),
  manage: () => import("./manage"),
  pasted: () => import("./pasted"),
  reading: () => import("./reading"),
  told: () => import("./told"),
  transfer: () => import("./transfer"),
  writing: () => import("./writing"),
};
