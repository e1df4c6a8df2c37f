import type { Texts } from "./en";

/** All words of the interface in German. A text that is missing does not compile. */
export const de: Texts = {
  app: {
    name: "Spillgate",
    skip: "Zum Inhalt",
    navigation: "Seiten",
    pages: {
      watch: "Warteschlange ansehen",
      lessons: "Lektionen",
      router: "Router",
      scenario: "Szenario",
      papers: "Arbeiten",
    },
    theme: "Farben",
    themes: { system: "Wie das System", light: "Hell", dark: "Dunkel" },
    language: "Sprache",
    notFound: (route: string) => `Eine Seite „${route}“ gibt es nicht.`,
    noWasm:
      "Dieser Browser hat kein WebAssembly, das der Simulator braucht. Jeder aktuelle Firefox, Chrome, Edge oder Safari hat es; manche Sperrmodi schalten es ab.",
  },

  // Links, one-file pages and commands.
  share: {},

  // Shared components.
  ui: {},

  // Watch a queue breathe.
  watch: {},

  // The eight lessons.
  lessons: {},

  // The engineer's page.
  router: {},

  // Editor, check, run, results.
  scenario: {},

  // Figures of the papers.
  papers: {},
};
