import { useTexts } from "../texts";

/** The words of the shared components in the chosen language. */
export function useWords() {
  return useTexts().ui;
}
