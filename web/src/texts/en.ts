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
  ui: {
    close: "Close",
    severities: { error: "Error", warning: "Warning", note: "Note" },
    verdicts: {
      pass: "pass",
      fail: "fail",
      undecided: "undecided",
      proven: "proven",
      refuted: "refuted",
      "not proven": "not proven",
    } as Record<string, string>,
    rowsShown: (shown: number, all: number) => `${shown} of ${all} rows.`,
    showMore: "Show more",
    chart: {
      none: (what: string) => `${what}: no data`,
      whole: "Show all of it",
      pointer: (title: string) => `${title}: point in time`,
      curves: (title: string) => `${title}: curves`,
      keys: "Arrows point, plus and minus zoom, 0 shows all.",
      summary: (name: string, least: string, mean: string, most: string, when: string) =>
        `${name}: from ${least} to ${most}, mean ${mean}; largest at ${when}.`,
      delay: "one-way delay",
      share: "share of packets that take longer",
      longer: (share: string, delay: string) => `${share} take longer than ${delay}`,
      logarithmic: "Logarithmic axis of delay",
    },
    editor: {
      escape: "Escape, then Tab leaves the editor.",
      required: "required",
      oneOf: "one of",
      examples: "such as",
    },
  },

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
