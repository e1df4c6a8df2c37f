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
  share: {
    group: "Pass it on",
    link: "Link",
    linkTitle: "A link to this scenario",
    linkNote: "The scenario stands in the link itself, behind #: no server sees it.",
    linkPlace: (place: string) =>
      `Whoever opens it needs the lab at the same place (${place}). One file needs nothing.`,
    tooLong: (most: number) =>
      `This scenario is too long for a link (${most} characters at most, so that chats and mail do not cut it). One file holds it whole.`,
    file: "One file",
    fileNote: "The whole lab with this scenario, for any browser, without a network.",
    failed: (why: string) => `The file cannot be made: ${why}`,
    command: "Command",
    commandTitle: "The same on the command line",
    commandNote: "In a folder with the files below, Spillgate gives the same results:",
    digest: "Digest",
    digestNote:
      "The fingerprint of everything that happened in the first run; results.json has it, too.",
    files: "Files",
    save: (name: string) => `Save ${name}`,
    copy: "Copy",
    copied: "Copied.",
    notCopied: "The browser does not let the page copy: select the text and copy it.",
    close: "Close",
    broken: (why: string) =>
      `The link or file brings no scenario: ${why}. The page begins with its own instead.`,
    dismiss: "Dismiss",
  },

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
