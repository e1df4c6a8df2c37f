import { type Texts, useTexts } from "../../texts";

export type PapersWords = Texts["papers"];
export type FigureWords = PapersWords["set"][keyof PapersWords["set"]];

export function usePapersWords(): PapersWords {
  return useTexts().papers;
}
