import { effect, signal } from "@preact/signals";
import { recall, remember } from "../app/storage";
import { de } from "./de";
import { en, type Texts } from "./en";

export type { Texts };

/** The languages, by their own names. */
export const languages = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof languages;

const all: Record<Language, Texts> = { en, de };

function first(): Language {
  const kept = recall("language");
  if (kept === "en" || kept === "de") return kept;
  const spoken = globalThis.navigator?.languages ?? [];
  const known = spoken.map((s) => s.slice(0, 2)).find((s) => s === "en" || s === "de");
  return known === "de" ? "de" : "en";
}

export const language = signal<Language>(first());

/** The words in the chosen language. A component that calls it is drawn again when that changes. */
export function useTexts(): Texts {
  return all[language.value];
}

/** Chooses a language and keeps it. */
export function choose(chosen: Language): void {
  language.value = chosen;
  remember("language", chosen);
}

effect(() => {
  if (globalThis.document) document.documentElement.lang = language.value;
});
