import { effect, signal } from "@preact/signals";
import { forget, recall, remember } from "./storage";

export type Theme = "system" | "light" | "dark";

function first(): Theme {
  const kept = recall("theme");
  return kept === "light" || kept === "dark" ? kept : "system";
}

export const theme = signal<Theme>(first());

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  if (chosen === "system") forget("theme");
  else remember("theme", chosen);
}

const prefers = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
const systemDark = signal(prefers?.matches ?? false);
prefers?.addEventListener("change", (event) => {
  systemDark.value = event.matches;
});

/** Whether the page is dark now: for what draws on a canvas. */
export function isDark(): boolean {
  return theme.value === "system" ? systemDark.value : theme.value === "dark";
}

effect(() => {
  const name = isDark() ? "dark" : "light";
  if (globalThis.document) document.documentElement.dataset.theme = name;
});
