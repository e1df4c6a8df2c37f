import { type Language, language, type Texts, useTexts } from "../texts";

/** The words of the shared components in the chosen language. */
export function useWords(): Texts["ui"] {
  return useTexts().ui;
}

/** A number that was written with a point, as people of the language write it. */
export function localized(text: string, of: Language = language.value): string {
  return of === "de" ? text.replace(/(\d)\.(?=\d)/g, "$1,") : text;
}

/** A unit in the chosen language. */
export function unitWord(unit: string): string {
  return useTexts().ui.units[unit] ?? unit;
}

/** Numbers and units within a text as people of the chosen language write them. */
export function inWords(text: string): string {
  const units = Object.entries(useTexts().ui.units);
  return localized(units.reduce((said, [unit, word]) => said.replaceAll(unit, word), text));
}
