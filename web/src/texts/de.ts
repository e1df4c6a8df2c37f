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
