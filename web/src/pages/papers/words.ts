import { type Texts, useTexts } from "../../texts";

export type PapersWords = Texts["papers"];
export type FigureWords = PapersWords["set"][keyof PapersWords["set"]];

/** Units within a text in the words of the chosen language. */
export function inWords(text: string, { units }: PapersWords): string {
  return Object.entries(units).reduce((said, [unit, word]) => said.replaceAll(unit, word), text);
}

export function usePapersWords(): PapersWords {
  return useTexts().papers;
}
