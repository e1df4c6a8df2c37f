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
  share: {
    group: "Weitergeben",
    link: "Link",
    linkTitle: "Ein Link auf dieses Szenario",
    linkNote: "Das Szenario steht im Link selbst, hinter dem #: kein Server sieht es.",
    linkPlace: (place: string) =>
      `Zum Öffnen muss das Labor an derselben Stelle liegen (${place}). Eine einzelne Datei braucht nichts.`,
    tooLong: (most: number) =>
      `Dieses Szenario ist zu lang für einen Link (höchstens ${most} Zeichen, damit Chats und Mails ihn nicht abschneiden). Eine einzelne Datei fasst es ganz.`,
    file: "Eine Datei",
    fileNote: "Das ganze Labor mit diesem Szenario, für jeden Browser, ohne Netz.",
    failed: (why: string) => `Die Datei kann nicht erzeugt werden: ${why}`,
    command: "Befehl",
    commandTitle: "Dasselbe auf der Kommandozeile",
    commandNote: "In einem Ordner mit den Dateien unten liefert Spillgate dieselben Ergebnisse:",
    digest: "Prüfsumme",
    digestNote:
      "Der Fingerabdruck von allem, was im ersten Lauf geschah; er steht auch in results.json.",
    files: "Dateien",
    save: (name: string) => `${name} sichern`,
    copy: "Kopieren",
    copied: "Kopiert.",
    notCopied: "Der Browser lässt die Seite nicht kopieren: den Text markieren und kopieren.",
    close: "Schließen",
    broken: (why: string) =>
      `Der Link oder die Datei bringt kein Szenario mit: ${why}. Die Seite beginnt mit ihrem eigenen.`,
    dismiss: "Ausblenden",
  },

  // Shared components.
  ui: {
    close: "Schließen",
    severities: { error: "Fehler", warning: "Warnung", note: "Hinweis" },
    verdicts: {
      pass: "erfüllt",
      fail: "verfehlt",
      undecided: "offen",
      proven: "bewiesen",
      refuted: "widerlegt",
      "not proven": "nicht bewiesen",
    } as Record<string, string>,
    rowsShown: (shown: number, all: number) => `${shown} von ${all} Zeilen.`,
    showMore: "Mehr zeigen",
    chart: {
      none: (what: string) => `${what}: keine Daten`,
      whole: "Alles zeigen",
      pointer: (title: string) => `${title}: Zeitpunkt`,
      curves: (title: string) => `${title}: Kurven`,
      keys: "Pfeiltasten zeigen, Plus und Minus vergrößern und verkleinern, 0 zeigt alles.",
      summary: (name: string, least: string, mean: string, most: string, when: string) =>
        `${name}: von ${least} bis ${most}, im Mittel ${mean}; am größten bei ${when}.`,
      delay: "Einwegverzögerung",
      share: "Anteil der Pakete, die länger brauchen",
      longer: (share: string, delay: string) => `${share} brauchen länger als ${delay}`,
      logarithmic: "Logarithmische Verzögerungsachse",
    },
    editor: {
      escape: "Mit Escape, dann Tab aus dem Editor.",
      required: "nötig",
      oneOf: "eines von",
      examples: "etwa",
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
