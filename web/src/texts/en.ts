/** All words of the interface. Each page has its own object. */
export const en = {
  app: {
    name: "Spillgate",
    skip: "Skip to the content",
    navigation: "Pages",
    pages: {
      watch: "Watch a queue",
      lessons: "Lessons",
      router: "Router",
      scenario: "Scenario",
      papers: "Papers",
    },
    theme: "Theme",
    themes: { system: "As the system", light: "Light", dark: "Dark" },
    language: "Language",
    notFound: (route: string) => `There is no page “${route}”.`,
    noWasm:
      "This browser has no WebAssembly, which the simulator needs. Any current Firefox, Chrome, Edge or Safari has it; some lock-down modes switch it off.",
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

export type Texts = typeof en;
