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
      delayPointer: (title: string) => `${title}: gezeigte Verzögerung`,
      longer: (share: string, delay: string) => `${share} brauchen länger als ${delay}`,
      logarithmic: "Logarithmische Verzögerungsachse",
    },
    editor: {
      escape: "Mit Escape, dann Tab aus dem Editor.",
      phrases: {
        Find: "Suchen",
        Replace: "Ersetzen",
        next: "weiter",
        previous: "zurück",
        all: "alle",
        "match case": "Groß/Klein",
        "by word": "ganze Wörter",
        regexp: "Regexp",
        replace: "ersetzen",
        "replace all": "alle ersetzen",
        close: "schließen",
        "Go to line": "Zu Zeile",
        go: "los",
        "No diagnostics": "Keine Meldungen",
        Diagnostics: "Meldungen",
        Completions: "Vorschläge",
      },
      required: "nötig",
      oneOf: "eines von",
      examples: "etwa",
    },
  },

  // Watch a queue breathe.
  watch: {
    title: "Einer Warteschlange beim Atmen zusehen",
    lead: "Pakete kommen von links, warten und laufen über die Leitung ab. Jedes Bild zeigt einen Port in einem Augenblick; alles ist Paket für Paket simuliert.",
    play: "Abspielen",
    pause: "Anhalten",
    back: "Ein Paket zurück",
    forward: "Ein Paket weiter",
    toStart: "An den Anfang",
    speed: "Tempo",
    asFast: "so schnell es läuft",
    times: (factor: string) => `× ${factor}`,
    time: "Zeit",
    axis: "Zeit, mit den wartenden Paketen",
    zoomIn: "Vergrößern",
    zoomOut: "Verkleinern",
    whole: "Ganze Zeit",
    keys: "Die Leertaste spielt ab und hält an. Die Pfeiltasten gehen paketweise, mit Umschalt zehn. Plus und Minus vergrößern und verkleinern.",
    port: "Port",
    variant: "Warteschlange",
    beside: "Daneben",
    nothing: "nichts",
    variants: "Varianten des Szenarios",
    policies: "Policys des Szenarios",
    mechanisms: "Verfahren",
    asItIs: "wie sie ist",
    color: "Farbe nach",
    colors: { class: "Klasse", flow: "Fluss" },
    lanes: "Bahnen nach",
    groupings: { queue: "Warteschlange", flow: "Fluss", class: "Klasse" },
    picture: (name: string) => `Der Port mit ${name}`,
    running: "Läuft …",
    starting: "Der Simulator startet …",
    failed: "Das lässt sich nicht ausführen",
    crashed: (why: string) =>
      `Der Simulator hielt an: ${why}. Mit der nächsten Änderung startet er neu.`,
    leftOut: (count: string, time: string) =>
      `Die Aufzeichnung endet bei ${time}: ${count} spätere Ereignisse fehlen.`,
    none: "Zu diesem Port kam kein Paket.",
    took: (seconds: string) => `Neue Aufzeichnung in ${seconds}.`,
    events: (count: string) => `${count} Ereignisse`,
    sliders: "Regler",
    moreNumbers: "Mehr Zahlen",
    search: "Zahlen durchsuchen",
    others: (count: number) => `${count} weitere: danach suchen.`,
    reset: "Zurücksetzen",
    openScenario: "Auf der Szenario-Seite öffnen",
    tooLong: "Das Szenario ist zu lang für einen Link.",
    drawn: {
      packets: (count: number) => (count === 1 ? "1 Paket" : `${count} Pakete`),
      average: (packets: string) => `Mittel ${packets}`,
      probability: (percent: string) => `p ${percent}`,
      more: (count: number) => `+ ${count} weitere`,
      limit: (limit: string) => `Grenze ${limit}`,
      reason: (name: string) => `verworfen: ${name}`,
      idle: "frei",
    },
    said: {
      state: (waiting: number, parts: string) =>
        waiting === 0
          ? "Kein Paket wartet."
          : `${waiting === 1 ? "1 Paket wartet" : `${waiting} Pakete warten`}${parts && `: ${parts}`}.`,
      part: (count: number, name: string) => `${count} ${name}`,
      sends: (name: string, percent: string) => `Ein Paket von ${name} wird gesendet (${percent}).`,
      idle: "Die Leitung ist frei.",
      counts: (left: number, dropped: number, marked: number) =>
        `Bisher gingen ${left} ab, ${dropped} wurden verworfen${marked ? `, ${marked} markiert` : ""}.`,
      average: (queue: string, packets: string) => `Mittel von ${queue}: ${packets} Pakete.`,
      arrives: (flow: string, number: number) => `Paket ${number} von ${flow} kommt an.`,
      leaves: (flow: string, number: number, wait: string) =>
        `Paket ${number} von ${flow} geht nach ${wait} ab.`,
      drops: (flow: string, number: number, reason: string) =>
        `Paket ${number} von ${flow} wird verworfen: ${reason}.`,
      marks: (flow: string, number: number) => `Paket ${number} von ${flow} wird markiert.`,
    },
    packet: {
      title: (number: number) => `Paket ${number}`,
      flow: "Fluss",
      class: "Klasse",
      queue: "Warteschlange",
      size: "Größe",
      arrived: "Kam bei",
      waited: "Wartete",
      waits: "Wartet seit",
      left: "Gesendet bei",
      dropped: "Verworfen bei",
      reason: "Warum",
      marked: "Markiert bei",
      close: "Schließen",
    },
    charts: {
      queue: "Wartende Pakete",
      delay: "Verzögerung am Port, längste",
      rates: "Gesendete Rate",
      cwnd: "Staukontrollfenster",
      bound: (classes: string) => `Schranke: ${classes}`,
      of: (chart: string, side: string) => `${chart}: ${side}`,
    },
    outcome: {
      title: "Was daraus wurde",
      class: "Klasse",
      flow: "Fluss",
      queue: "Warteschlange",
      rate: "Gesendete Rate",
      mean: "Mittlere Verzögerung",
      p99: "99-%-Verzögerung",
      loss: "Verworfen",
      marked: "Markiert",
    },
  },

  // The eight lessons.
  lessons: {
    title: "Acht Lektionen über Warteschlangen",
    intro:
      "Jede Lektion dauert 5 bis 10 Minuten. Regler bewegen, der Warteschlange zusehen, dann antworten. Geprüft wird mit einer Formel oder mit einem Lauf des Simulators mit den eigenen Zahlen.",
    minutes: (n: number) => `${n} Minuten`,
    lesson: (n: number) => `Lektion ${n}`,
    all: "Alle Lektionen",
    next: "Nächste Lektion",
    progress: (right: number, all: number) => `${right} von ${all} richtig`,
    number: "Eigene Nummer",
    numberHint:
      "Bis zu 12 Ziffern, von der Lehrperson. Sie bestimmt die Raten und Größen der Aufgaben. Ohne Nummer gelten die Standardwerte.",
    numberBad: "Bis zu 12 Ziffern, sonst nichts.",
    numberIs: (n: string) => `Nummer ${n}`,
    nobody: "Keine Nummer: die Standardwerte",
    sheet: "Antwortblatt",
    forTeachers: "Für Lehrende: alle erwarteten Antworten",
    save: "Als Datei sichern",
    load: "Gesicherte Datei öffnen",
    loaded: (n: string) => `Die Arbeit der Nummer ${n} ist geöffnet.`,
    notLoaded: "Diese Datei ist keine gesicherte Arbeit dieser Lektionen.",
    erase: "Antworten dieser Nummer löschen",
    erased: (n: string) => `Die Antworten der Nummer ${n} sind gelöscht.`,
    sureErase: (n: string) =>
      `Alle Antworten der Nummer ${n} löschen? Das lässt sich nicht rückgängig machen.`,
    notKept: "Dieser Browser bewahrt für diese Seite nichts auf. Die Arbeit als Datei sichern.",
    yours: "Die eigenen Zahlen",
    settings: "Regler",
    reset: "Zurück zu den eigenen Zahlen",
    tryThis: "Ausprobieren",
    measured: "Gemessen",
    measuredIn: (seconds: string) => `In ${seconds} s simuliert`,
    running: "Läuft …",
    failed: (why: string) => `Der Lauf ist gescheitert: ${why}`,
    quantity: "Größe",
    theory: "Formel",
    ofVariant: (quantity: string, variant: string) => `${quantity}, ${variant}`,
    interval:
      "± ist das 95-%-Konfidenzintervall über die Läufe: So weit kann der Zufall den Mittelwert verschieben.",
    chart: "Die Warteschlange im Lauf der Zeit",
    questions: "Fragen",
    question: (n: number) => `Frage ${n}`,
    answer: "Antwort",
    answerIn: (unit: string) => `Antwort in ${unit}`,
    check: "Prüfen",
    checking: "Wird geprüft …",
    right: "Richtig.",
    wrong: "Noch nicht.",
    why: "Warum",
    tries: (n: number) => (n === 1 ? "1 Versuch" : `${n} Versuche`),
    byFormula: (digits: number) =>
      `Geprüft mit einer Formel. Auf ${digits} gültige Ziffern runden oder mehr angeben: Eine halbe Einheit der letzten davon ist erlaubt.`,
    byRun: (digits: number) =>
      `Geprüft mit einem Lauf mit den eigenen Zahlen. Auf ${digits} gültige Ziffern runden oder mehr angeben: Eine halbe Einheit der letzten davon ist erlaubt.`,
    whole: "Geprüft mit einer Formel. Eine ganze Zahl, genau.",
    choiceByFormula: "Die richtige Wahl wird aus den eigenen Zahlen berechnet.",
    choiceByRun: "Die richtige Wahl wird mit einem Lauf mit den eigenen Zahlen bestimmt.",
    units: { packets: "Pakete", "": "" },
    said: {
      near: "Fast: Der Weg stimmt, die Rechnung ist nicht genau genug.",
      low: "Zu klein.",
      high: "Zu groß.",
      wrong: "Das ist es nicht.",
      unreadable:
        "Das ist keine Zahl. Ziffern schreiben, vor Nachkommastellen Komma oder Punkt, zwischen Tausendern nichts.",
      unit: (unit: string) => `Die Antwort in ${unit} angeben.`,
      bits: "Um den Faktor 8 daneben: Ein Byte hat acht Bit.",
      prefix: "Um den Faktor 1000 daneben: Auf die Vorsätze achten, etwa ms und s, kb/s und Mb/s.",
      bitsAndPrefix:
        "Um Byte und Bit und um einen Vorsatz daneben: Jede Größe mit ihrer Einheit schreiben, dann umrechnen.",
      percent: "Um den Faktor 100 daneben: Gefragt ist in Prozent.",
      sign: "Das Vorzeichen stimmt nicht.",
    },
    sheetTitle: "Antworten über Warteschlangen",
    name: "Name",
    date: "Datum",
    parameters: "Parameter",
    given: "Antwort",
    mark: "Geprüft",
    marks: { right: "✓ richtig", wrong: "✗ falsch", none: "– keine Antwort" },
    digest: "Lauf",
    digestHint:
      "Die ersten Stellen des Fingerabdrucks des Laufs. Dasselbe Szenario ergibt überall denselben, auch auf der Kommandozeile.",
    code: "Prüfcode",
    codeHint:
      "Der Code enthält, welche Fragen richtig sind. Er schützt vor Schreibfehlern, nicht vor Betrug: Wer das Programm liest, kann ihn berechnen.",
    print: "Drucken",
    back: "Zurück zu den Lektionen",
    answersTitle: "Erwartete Antworten",
    answersIntro:
      "Je Zeile eine Nummer, oder durch Kommas getrennt. Die Antworten werden hier berechnet, mit denselben Formeln und Läufen, die die Antworten der Lernenden prüfen.",
    numbers: "Nummern der Lernenden",
    compute: "Berechnen",
    computed: (done: number, all: number) => `${done} von ${all} Nummern`,
    cancel: "Anhalten",
    tooMany: (most: number) => `Höchstens ${most} Nummern auf einmal.`,
    noNumbers: "In der Liste steht keine Nummer.",
    student: "Nummer",
    fullCode: "Code, wenn alles richtig ist",
    codeField: "Prüfcode einer Arbeit",
    codeRight: (right: number, all: number) => `${right} von ${all} richtig`,
    codeBad: "Das ist kein Code dieser Nummer.",
    csv: "Als CSV sichern",
    names: {
      rate: "Rate der Leitung",
      bytes: "Paket",
      load: "Auslastung",
      high: "höhere Auslastung",
      modest: "der bescheidene Strom bietet an",
      greedy: "der gierige Strom bietet an",
      camera: "eine Kamera",
      count: "Kameras",
      limit: "Grenze der Prioritätsklasse",
      rtt: "Umlaufzeit",
      share: "Puffer, gemessen am Inhalt des Pfads",
      buffer: "Puffer",
      min: "untere Schwelle",
      max: "obere Schwelle",
      most: "Wahrscheinlichkeit an der oberen Schwelle",
      at: "mittlere Warteschlange",
      queue: "Warteschlange",
      arrivals: "Ankünfte",
      bucket: "Eimer",
      size: "Burst",
      marked: "markiert",
    },
    set: {
      queues: {
        title: "Warum es Warteschlangen gibt",
        minutes: 6,
        text: [
          "Eine Leitung sendet ein Paket nach dem anderen. Ein Paket, das währenddessen kommt, muss warten. Wo es wartet, ist die Warteschlange.",
          "Die *Auslastung* ρ ist die Rate der ankommenden Daten, geteilt durch die Rate der Leitung. Unter 100 % kann die Leitung alles befördern. Pakete warten trotzdem, weil sie unregelmäßig kommen: einmal keines, einmal mehrere zugleich.",
          "Hier kommen die Pakete zufällig (Poisson-Ankünfte), alle gleich lang. Diese Warteschlange heißt M/D/1. Ein Paket wird in der Zeit T gesendet. Die mittlere Wartezeit in der Schlange ist W = ρ / (2 (1 − ρ)) · T.",
          "Sind auch die Längen zufällig (exponentiell: M/M/1), ist die Wartezeit doppelt so lang. Unregelmäßigkeit macht Warteschlangen, Auslastung lässt sie wachsen.",
        ],
        tries: [
          "Die Auslastung von 50 % auf 80 % und dann auf 95 % erhöhen. Die gemessene Wartezeit mit der Formel vergleichen.",
          "Zufällige Längen wählen. Um welchen Faktor ändert sich die Wartezeit?",
          "Bei 98 % kann die gemessene Wartezeit weit von der Formel entfernt sein. Auf das Intervall achten: Eine solche Warteschlange braucht lange, bis sie ihren Mittelwert zeigt.",
        ],
        controls: { load: "Auslastung", lengths: "Länge der Pakete" },
        options: { alike: "gleich (M/D/1)", random: "zufällig (M/M/1)" },
        measures: {
          utilization: "Auslastung der Leitung",
          wait: "Mittlere Wartezeit",
          waiting: "Wartende Pakete, Mittel",
          wait99: "Wartezeit, 99. Perzentil",
        },
        curves: { backlog_packets: "Wartende Pakete" },
        questions: {
          transmission: {
            ask: "Wie lange sendet die Leitung mit {rate} an einem Paket von {bytes}, in ms?",
            hints: {
              inverse:
                "So viele Pakete gehen in einer Millisekunde. Gefragt ist, wie viele Millisekunden ein Paket braucht.",
            },
            why: "T = Länge in Bit / Rate. Ein Paket von {bytes} hat achtmal so viele Bit wie Byte.",
          },
          wait: {
            ask: "Die Auslastung ist {load}. Wie lange wartet ein Paket im Mittel in der Schlange, in ms, nach der Formel für M/D/1?",
            hints: {
              exponential:
                "Das ist die Wartezeit bei zufälligen Längen (M/M/1). Hier sind alle Pakete gleich.",
              delay:
                "Das ist die Wartezeit samt der Zeit auf der Leitung. Gefragt ist nur die Wartezeit in der Schlange.",
              units: "Das ist die Wartezeit in Paketzeiten. Mit der Zeit eines Pakets malnehmen.",
              percent: "Die Auslastung als Zahl zwischen 0 und 1 einsetzen, nicht in Prozent.",
            },
            why: "W = ρ / (2 (1 − ρ)) · T mit ρ = {load}. Es kommt auf 1 − ρ an: Je weniger von der Leitung frei bleibt, desto länger die Wartezeit.",
          },
          growth: {
            ask: "Die Auslastung steigt von {load} auf {high}. Um welchen Faktor wächst die mittlere Wartezeit?",
            choices: {
              load: "auf das {load}-Fache",
              idle: "auf das {idle}-Fache",
              wait: "auf das {wait}-Fache",
              square: "auf das {square}-Fache",
            },
            hints: {
              load: "Die Wartezeit wächst schneller als die Auslastung: auf das 1 − ρ in der Formel achten.",
              idle: "Sowohl ρ oben als auch 1 − ρ unten ändern sich.",
              square: "ρ und 1 − ρ stehen einfach in der Formel, nicht im Quadrat.",
              wait: "",
            },
            why: "ρ / (1 − ρ) wächst mit dem Verhältnis der Auslastungen mal dem Verhältnis dessen, was frei bleibt. Nahe 100 % kostet wenig mehr Auslastung viel Verzögerung.",
          },
        },
      },
      scheduling: {
        title: "FIFO, Priorität und faire Warteschlangen",
        minutes: 8,
        text: [
          "Warten mehrere Pakete, muss jemand bestimmen, welches als nächstes geht. Das ist der *Scheduler*.",
          "*FIFO* (first in, first out) sendet in der Reihenfolge der Ankunft. Alle Ströme teilen sich eine Warteschlange, ihre Verzögerung und ihre Verluste. Wer mehr sendet, bekommt mehr.",
          "*Strikte Priorität* sendet Pakete der ersten Klasse, sobald es welche gibt. Ein Paket, das schon auf der Leitung ist, wird nicht unterbrochen.",
          "*Faire Warteschlangen* geben jedem Strom eine eigene Schlange und bedienen sie reihum (hier deficit round robin). Ein Strom, der weniger will als einen gleichen Anteil, bekommt alles, was er will. Was er übrig lässt, teilen sich die anderen: *Max-Min-Fairness*.",
          "Auf dieser Leitung sind ein Telefonat (80 kb/s in Paketen von 200 B), ein bescheidener Strom und ein gieriger, der nicht langsamer wird.",
        ],
        tries: [
          "Den gierigen Strom auf 50 % senken. Nichts geht verloren, gleich welcher Scheduler arbeitet. Scheduler wirken, wo Pakete warten.",
          "Ihn auf 200 % erhöhen. In welchen Spalten leidet der bescheidene Strom?",
          "Die Verzögerung des Telefonats mit Priorität und mit fairen Warteschlangen vergleichen.",
        ],
        controls: { greedy: "Angebot des gierigen Stroms, gemessen an der Leitung" },
        options: {},
        measures: {
          call99: "Telefonat: Verzögerung, 99. Perzentil",
          callLoss: "Telefonat: Paketverlust",
          modestRate: "Bescheidener Strom: Rate",
          modestLoss: "Bescheidener Strom: Paketverlust",
          greedyRate: "Gieriger Strom: Rate",
        },
        curves: { throughput: "Rate" },
        questions: {
          residual: {
            ask: "Das Telefonat hat strikte Priorität auf einer Leitung mit {rate}. Andere Pakete haben {bytes}. Wie lange wartet ein Paket des Telefonats höchstens, bevor es selbst gesendet wird, in ms?",
            hints: {
              own: "Das ist die Sendezeit des eigenen Pakets. Auf welches Paket wartet es?",
              both: "Die Sendezeit des eigenen Pakets gehört nicht zur Wartezeit.",
              delay:
                "Das ist die ganze Verzögerung samt Ausbreitung. Gefragt ist nur die Wartezeit in der Schlange.",
              propagation: "Die Ausbreitungsverzögerung gehört nicht zur Wartezeit.",
              half: "Das ist die mittlere Wartezeit, wenn ein anderes Paket auf der Leitung ist. Gefragt ist die längste.",
            },
            why: "Ein Paket auf der Leitung wird nicht unterbrochen. Im schlimmsten Fall hat gerade eines von {bytes} begonnen. Alle anderen stehen hinter dem Telefonat. Seine Wartezeit hängt nicht von der Last der anderen ab.",
          },
          share: {
            ask: "Der bescheidene Strom bietet {modest} der Leitung mit {rate} an, der gierige {greedy}. Welche Rate bekommt der gierige bei fairen Warteschlangen, in Mb/s? (Das Telefonat braucht 80 kb/s.)",
            hints: {
              third:
                "Ein gleiches Drittel für jeden: So viel wollen das Telefonat und der bescheidene Strom nicht. Wer bekommt, was sie übrig lassen?",
              proportional: "So viel gibt ihm FIFO: im Verhältnis zu seinem Angebot.",
              wanted: "So viel bietet er an. Neben den anderen trägt die Leitung das nicht.",
              half: "Die Leitung wird nicht halbiert. Ströme, die weniger als ihren Anteil wollen, lassen den Rest übrig.",
            },
            why: "Das Telefonat und der bescheidene Strom wollen weniger als ein Drittel der Leitung und bekommen alles, was sie wollen. Der gierige bekommt den Rest. Was er darüber hinaus sendet, verliert er.",
          },
          protects: {
            ask: "Niemand hat den bescheidenen Strom klassifiziert. Unter welchem Scheduler verliert er am wenigsten?",
            choices: {
              FIFO: "FIFO",
              priority: "Priorität für das Telefonat",
              fair: "faire Warteschlangen",
            },
            hints: {
              FIFO: "In einer FIFO finden die Pakete aller dieselbe volle Schlange vor.",
              priority:
                "Nur das Telefonat hat Priorität. Der bescheidene Strom teilt seine Schlange weiter mit dem gierigen.",
              fair: "",
            },
            why: "Faire Warteschlangen haben für jeden Strom eine eigene. Der gierige füllt die seine und verliert die eigenen Pakete.",
          },
        },
      },
      starvation: {
        title: "Verhungern",
        minutes: 6,
        text: [
          "Strikte Priorität ist einfach und ergibt die kürzesten Wartezeiten. Sie birgt eine Gefahr: Andere werden nur bedient, wenn aus der ersten Klasse nichts wartet.",
          "Hier haben Kameras Vorrang vor Daten. Senden alle Kameras zusammen mehr, als die Leitung trägt, bekommen die Daten nichts. Sie *verhungern*.",
          "Eine Grenze für die Prioritätsklasse verhindert das. Ein *Policer* lässt die Klasse bis zu einer Rate senden und verwirft, was darüber liegt. Bei Routern heißt das low-latency queueing (LLQ).",
        ],
        tries: [
          "Eine Kamera nach der anderen hinzunehmen. Was bleibt den Daten in beiden Spalten?",
          "Die Zahl der Kameras suchen, bei der die Daten ohne Grenze nichts mehr bekommen.",
          "Dann auf den Verlust des Videos achten: Mit Grenze beginnt er früher. Einer zahlt immer.",
        ],
        controls: { cameras: "Kameras" },
        options: {},
        measures: {
          videoRate: "Video: Rate",
          videoLoss: "Video: Paketverlust",
          dataRate: "Daten: Rate",
          data99: "Daten: Verzögerung, 99. Perzentil",
        },
        curves: { throughput: "Rate" },
        questions: {
          left: {
            ask: "Kameras: {count}, jede mit {camera}. Die Leitung hat {rate}, die Daten würden sie ganz füllen. Ohne Grenze: Welche Rate bekommen die Daten, in Mb/s?",
            hints: {
              video: "Das bekommen die Kameras.",
              fair: "Priorität teilt nicht gleichmäßig.",
              halves: "Priorität halbiert die Leitung nicht.",
            },
            why: "Priorität nimmt, was sie will, die Daten bekommen den Rest: die Rate der Leitung minus die aller Kameras.",
          },
          starve: {
            ask: "Wie viele Kameras mit {camera} sind nötig, bis die Daten auf der Leitung mit {rate} nichts mehr bekommen?",
            hints: {
              fewer: "So viele Kameras lassen noch etwas übrig.",
              more: "Eine Kamera weniger genügt.",
            },
            why: "Die Daten bekommen nichts, sobald die Kameras zusammen mindestens die Rate der Leitung wollen: die erste ganze Zahl über dem Quotienten.",
          },
          limited: {
            ask: "Jetzt ist die Prioritätsklasse auf {limit} der Leitung mit {rate} begrenzt. Welche Rate bekommen die Daten, gleich wie viele Kameras es gibt, in Mb/s?",
            hints: {
              limit: "Das bekommen die Kameras.",
              nothing: "Die Grenze ist dazu da, dass etwas übrig bleibt.",
              guaranteed: "Es zählt die Grenze, nicht die Zahl der Kameras.",
            },
            why: "Der Policer lässt nicht mehr durch als seine Rate. Der Rest der Leitung bleibt den Daten sicher.",
          },
          excess: {
            ask: "Die Kameras senden mehr als die Grenze. Was wird aus den Paketen darüber?",
            choices: {
              dropped: "Der Policer verwirft sie bei der Ankunft.",
              waits: "Sie warten in der Prioritätsschlange, bis die voll ist.",
              data: "Sie warten zusammen mit den Daten.",
            },
            hints: {
              dropped: "",
              waits: "Eine lange Prioritätsschlange käme für alle darin zu spät.",
              data: "Sie kämen in falscher Reihenfolge und zu spät.",
            },
            why: "Ein Policer hat keine Warteschlange. Sprache und Video, die zu spät kommen, sind so gut wie verloren. Darum verwirft er sofort und hält die Verzögerung der Klasse kurz.",
          },
        },
      },
      sawtooth: {
        title: "Der Sägezahn von TCP",
        minutes: 8,
        text: [
          "TCP kennt die Rate der Leitung nicht. Es sendet ein *Fenster* von Paketen, wartet auf Quittungen und lernt aus Verlusten.",
          "Solange nichts verloren geht, vergrößert NewReno das Fenster je Umlaufzeit um ein Paket. Geht eines verloren, verkleinert es das Fenster auf einen Schlag. Das Fenster zeichnet einen Sägezahn.",
          "Der Pfad selbst fasst Pakete: Rate mal Umlaufzeit, das *Bandbreite-Verzögerungs-Produkt*. Was das Fenster darüber hinaus enthält, wartet im Puffer. Ist der Puffer voll, geht ein Paket verloren.",
          "Ist das verkleinerte Fenster kleiner als der Inhalt des Pfads, läuft der Puffer leer, und die Leitung steht eine Zeit lang still.",
        ],
        tries: [
          "Den Puffer klein machen. Auf die Auslastung der Leitung achten.",
          "Ihn auf 200 % stellen. Die Leitung ist immer belegt, und das Warten hört nie auf.",
          "CUBIC wählen. Sein Fenster wächst weit weg vom letzten Verlust schnell, nahe daran langsam.",
        ],
        controls: {
          buffer: "Puffer, gemessen am Inhalt des Pfads",
          sender: "Staukontrolle",
        },
        options: { newreno: "NewReno", cubic: "CUBIC" },
        measures: {
          utilization: "Auslastung der Leitung",
          goodput: "Nutzdatenrate",
          wait: "Mittlere Wartezeit",
          drops: "Verworfene Pakete",
        },
        curves: { cwnd: "Staukontrollfenster", backlog_packets: "Wartende Pakete" },
        questions: {
          path: {
            ask: "Wie viele Pakete von 1500 B fasst der Pfad bei {rate} und einer Umlaufzeit von {rtt}?",
            hints: {
              oneWay:
                "Ein Paket ist unterwegs, bis seine Quittung zurück ist: die ganze Umlaufzeit nehmen.",
              bytes: "Die Rate ist in Bit. Ein Paket hat 1500 Byte.",
              kilobytes: "Das sind Kilobyte. Gefragt sind Pakete.",
            },
            why: "Rate · Umlaufzeit sind die Bit, die unterwegs sind. Geteilt durch 12 000 Bit je Paket sind es die Pakete.",
          },
          top: {
            ask: "Der Puffer hat {share} davon. Bei etwa wie vielen Paketen unterwegs geht eines verloren?",
            hints: {
              path: "Bei so vielen beginnt die Warteschlange erst zu wachsen.",
              buffer: "Auch die Pakete auf dem Pfad zählen.",
              half: "So viele bleiben nach dem Verlust.",
              twice: "Der Puffer zählt einmal.",
            },
            why: "Erst ist der Pfad voll, dann der Puffer, dann geht das nächste Paket verloren: Pfad + Puffer.",
          },
          kept: {
            ask: "Auf welchen Teil des Fensters geht NewReno nach einem Verlust zurück?",
            choices: {
              half: "auf die Hälfte",
              seven: "auf sieben Zehntel",
              one: "auf ein Paket",
              same: "Es behält das Fenster.",
            },
            hints: {
              half: "",
              seven: "So macht es CUBIC. Auf die Kurve von NewReno achten.",
              one: "Das geschieht nur nach Ablauf der Wartezeit (Timeout) oder bei TCP Tahoe.",
              same: "Auf die Kurve achten: Sie fällt bei jedem Verlust.",
            },
            why: "Multiplikative Verkleinerung: Das Fenster wird halbiert, so läuft eine stehende Warteschlange binnen einer Umlaufzeit leer. Additive Vergrößerung: Es wächst je Umlaufzeit um ein Paket.",
          },
          smallest: {
            ask: "Mit welchem kleinsten Puffer, in Paketen, hält diese eine Verbindung die Leitung nach jedem Verlust belegt?",
            hints: {
              twice: "Die Hälfte von Pfad + Puffer muss den Pfad füllen.",
              half: "Dann ist die Hälfte von Pfad + Puffer weniger, als der Pfad fasst.",
            },
            why: "Nach einem Verlust bleiben (Pfad + Puffer) / 2 Pakete. Sie füllen den Pfad, wenn der Puffer so groß ist wie der Pfad: die klassische Regel, ein Bandbreite-Verzögerungs-Produkt. Viele Verbindungen, die nicht im Gleichschritt sind, brauchen viel weniger.",
          },
        },
      },
      bufferbloat: {
        title: "Bufferbloat und CoDel",
        minutes: 8,
        text: [
          "Ein Verlust ist für TCP das Zeichen, langsamer zu werden. Ein großer Puffer verzögert dieses Zeichen, und TCP füllt den Puffer. Die Pakete aller warten dahinter. Das ist *Bufferbloat*.",
          "Hier teilen sich ein Upload und ein Telefonat die Leitung ins Internet, in einer Warteschlange.",
          "*CoDel* (controlled delay) achtet nicht auf die Länge der Warteschlange, sondern darauf, wie lange Pakete gewartet haben. Hat 100 ms lang jedes Paket länger gewartet als das Ziel von 5 ms, ist die Warteschlange eine stehende: CoDel verwirft ein Paket, dann immer öfter eines, bis die Wartezeit unter dem Ziel liegt.",
          "Ein kurzer Burst kommt unbehelligt durch. Eine stehende Warteschlange hält sich nicht.",
        ],
        tries: [
          "Den Puffer verkleinern. Die Verzögerung mit FIFO sinkt mit ihm, die mit CoDel ändert sich kaum.",
          "Ihn sehr klein machen. Was wird aus dem Upload?",
          "Das Ziel von CoDel erhöhen und auf die Verzögerung des Telefonats achten.",
        ],
        controls: { buffer: "Puffer", target: "Ziel von CoDel" },
        options: {},
        measures: {
          callMean: "Telefonat: mittlere Verzögerung",
          call99: "Telefonat: Verzögerung, 99. Perzentil",
          callLoss: "Telefonat: Paketverlust",
          goodput: "Upload: Nutzdatenrate",
        },
        curves: { backlog_packets: "Wartende Pakete" },
        questions: {
          full: {
            ask: "Der Puffer ({buffer}) ist voll mit Paketen von 1500 B. Wie lange wartet das nächste Paket bei {rate}, in ms?",
            hints: {
              propagation: "Die Ausbreitungsverzögerung gehört nicht zur Wartezeit im Puffer.",
              call: "Die Pakete davor sind die des Uploads, mit 1500 B.",
              kilobytes: "Das ist die Größe des Puffers in kB. Wie lange sendet die Leitung daran?",
            },
            why: "Alle Pakete davor müssen zuerst gesendet werden: ihre Bit, geteilt durch die Rate. Ein Puffer ist eine Verzögerung; seine Länge in Paketen sagt ohne die Rate nichts.",
          },
          times: {
            ask: "Nach den eigenen Läufen: Um welchen Faktor ist die Verzögerung des Telefonats (99. Perzentil) mit FIFO länger als mit CoDel? Vorher die Regler auf die eigenen Zahlen zurückstellen.",
            hints: {
              inverse: "Umgekehrt: FIFO geteilt durch CoDel.",
              means: "Das sind die Mittelwerte. Gefragt sind die 99. Perzentile.",
              difference: "Das ist der Unterschied in ms. Gefragt ist der Faktor.",
            },
            why: "Derselbe Puffer, derselbe Verkehr: CoDel verwirft nur einige wenige Pakete zur rechten Zeit.",
          },
          cost: {
            ask: "Was kostet die kurze Warteschlange den Upload?",
            choices: {
              tenth: "weniger als ein Zehntel seiner Nutzdatenrate",
              half: "zwischen einem Zehntel und der Hälfte seiner Nutzdatenrate",
              most: "mehr als die Hälfte seiner Nutzdatenrate",
            },
            hints: {
              tenth: "",
              half: "Die Nutzdatenrate in beiden Spalten vergleichen.",
              most: "Die Nutzdatenrate in beiden Spalten vergleichen.",
            },
            why: "Eine Leitung ist belegt, solange ein Paket wartet. Was darüber hinaus wartet, macht nichts schneller.",
          },
        },
      },
      red: {
        title: "RED atmet",
        minutes: 10,
        text: [
          "*RED* (random early detection) verwirft, bevor die Warteschlange voll ist. So werden die Sender rechtzeitig langsamer und nicht alle zugleich.",
          "Es führt einen Mittelwert der Warteschlange. Bei jeder Ankunft gilt: Mittelwert ← (1 − w) · Mittelwert + w · Warteschlange, mit einem kleinen Gewicht w.",
          "Unter der unteren Schwelle wird nichts verworfen. Zwischen den Schwellen steigt die Wahrscheinlichkeit gleichmäßig von 0 auf ihren höchsten Wert an der oberen. Darüber steigt sie weiter, auf 1 beim Doppelten der oberen Schwelle (gentle RED).",
          "TCP antwortet auf einen Verlust eine Umlaufzeit später. Mittelwert und Sender bilden einen Regelkreis. Sind beide etwa gleich träge, schwingt die Warteschlange: Sie *atmet*.",
        ],
        tries: [
          "Beim üblichen Gewicht 0,002 Warteschlange und Mittelwert ansehen: Der Mittelwert kommt spät, die Warteschlange schießt über.",
          "0,02 wählen. Der Mittelwert folgt der Warteschlange.",
          "Die Zahl der Ströme erhöhen, dann die höchste Wahrscheinlichkeit. Wann kommt die Warteschlange zur Ruhe?",
        ],
        controls: {
          weight: "Gewicht des Mittelwerts",
          most: "Höchste Wahrscheinlichkeit",
          flows: "Ströme",
        },
        options: {},
        measures: {
          queue: "Wartende Pakete, Mittel",
          longest: "Wartende Pakete, höchstens",
          early: "Früh verworfen",
          utilization: "Auslastung der Leitung",
        },
        curves: { backlog_packets: "Wartende Pakete", backlog_average: "Mittelwert von RED" },
        questions: {
          probability: {
            ask: "Schwellen {min} und {max}, höchste Wahrscheinlichkeit {most}. Der Mittelwert ist {at}. Mit welcher Wahrscheinlichkeit rechnet RED zuerst, in Prozent?",
            hints: {
              way: "Das ist der Weg zwischen den Schwellen in Prozent. Er ist mit der höchsten Wahrscheinlichkeit malzunehmen.",
              zero: "Die Wahrscheinlichkeit steigt erst ab der unteren Schwelle, nicht ab 0.",
              other: "Das ist der Abstand zur oberen Schwelle. Den zur unteren nehmen.",
            },
            why: "p = höchste · (Mittelwert − untere) / (obere − untere). Danach verteilt RED das Verwerfen gleichmäßig über die Ankünfte.",
          },
          average: {
            ask: "Die Warteschlange war lange leer. Jetzt hat sie {queue} und bleibt so. Wie groß ist der Mittelwert nach {arrivals} weiteren Ankünften, beim Gewicht 0,002, in Paketen?",
            hints: {
              rest: "So viel fehlt dem Mittelwert noch.",
              straight:
                "Der Mittelwert wächst nicht geradlinig: Jeder Schritt ist ein Teil dessen, was noch fehlt.",
              queue: "Der Mittelwert ist viel träger.",
              once: "Das ist nur der erste Schritt.",
            },
            why: "Was fehlt, schrumpft mit jeder Ankunft um den Faktor 1 − w: Mittelwert = Warteschlange · (1 − (1 − w)ⁿ). Bis er vergisst, dauert es etwa 1/w = 500 Ankünfte.",
          },
          swing: {
            ask: "Bei welchem dieser Gewichte schwingt die Warteschlange am stärksten (Standardabweichung)? Die Regler auf die eigenen Zahlen zurückstellen und ausprobieren.",
            choices: {
              fast: "{fast}: ein flinker Mittelwert",
              standard: "{standard}: das übliche Gewicht",
              slow: "{slow}: ein träger Mittelwert",
            },
            hints: {
              fast: "Der Mittelwert folgt der Warteschlange dicht, und es wird rechtzeitig verworfen.",
              standard: "",
              slow: "Der Mittelwert bewegt sich kaum: Die Wahrscheinlichkeit ist fast konstant.",
            },
            why: "Ein Mittelwert, der etwa so träge ist wie TCP, reagiert zu spät: Er verwirft am meisten, wenn die Sender schon langsamer geworden sind. Ein viel flinkerer ist rechtzeitig; ein viel trägerer schwingt nicht mit.",
          },
        },
      },
      policer: {
        title: "Policer und Shaper",
        minutes: 8,
        text: [
          "Ein *Token-Bucket* füllt sich mit der Rate r mit Token, bis zur Tiefe b. Ein Paket, das geht, nimmt so viele Token mit, wie es Byte hat.",
          "Ein *Policer* verwirft ein Paket, das zu wenige Token vorfindet. Ein *Shaper* stellt es in eine Warteschlange, bis genug da sind. Beide lassen Bursts von b auf einmal durch und auf Dauer die Rate r.",
          "Hier sendet eine Kamera Bursts über eine Leitung mit 20 Mb/s. Ein TCP-Download mit einer Umlaufzeit von 50 ms hat einen eigenen Token-Bucket gleicher Größe.",
        ],
        tries: [
          "Den Eimer größer machen als den Burst. Nichts wird verworfen, nichts wartet.",
          "Ihn klein machen. Wer zahlt mit Verlust, wer mit Verzögerung?",
          "Auf die Token achten: Sie fallen während eines Bursts und steigen danach geradlinig.",
        ],
        controls: { bucket: "Tiefe des Eimers" },
        options: {},
        measures: {
          burstLoss: "Bursts: Paketverlust",
          burstLongest: "Bursts: längste Verzögerung",
          goodput: "Download: Nutzdatenrate",
          retransmits: "Download: Wiederholungen",
          downloadDelay: "Download: mittlere Verzögerung",
        },
        curves: { tokens_policer: "Token des Policers", tokens_shaper: "Token des Shapers" },
        questions: {
          passed: {
            ask: "Ein Burst von {size} kommt mit 20 Mb/s bei einem Policer mit r = {rate} und vollem Eimer von b = {bucket} an. Wie viel davon kommt insgesamt durch, in kB?",
            hints: {
              bucket: "Während der Burst dauert, kommen neue Token.",
              first: "So viel kommt bis zum ersten Verlust durch. Auch danach kommen Token.",
              dropped: "Das ist, was verworfen wird.",
              tokens: "Das sind die neuen Token. Der Eimer war am Anfang voll.",
              all: "Für alles reichen die Token nicht.",
            },
            why: "b + r · t, mit der Dauer t des Bursts: {size} bei 20 Mb/s. Der Policer lässt bis zum letzten Paket alles durch, was Token vorfindet.",
          },
          wait: {
            ask: "Derselbe Burst kommt bei einem Shaper mit demselben Eimer an. Wie lange wartet sein letztes Paket, in ms?",
            hints: {
              bucket: "Die ersten {bucket} gehen sofort: Sie finden Token vor.",
              arrival: "Das letzte Paket kommt erst am Ende des Bursts. Dessen Dauer abziehen.",
              both: "Abziehen, was sofort Token findet, und die Dauer des Bursts.",
              propagation: "Die Ausbreitungsverzögerung gehört nicht zur Wartezeit.",
            },
            why: "Das letzte Paket geht, wenn Token für alle gekommen sind: (Burst − b) / r nach dem Beginn. Gekommen ist es, als der Burst endete.",
          },
          download: {
            ask: "Der TCP-Download: Was bekommt er hinter dem Policer, verglichen mit dem Shaper gleicher Rate?",
            choices: { less: "weniger", same: "gleich viel", more: "mehr" },
            hints: {
              less: "",
              same: "Die Nutzdatenrate in beiden Spalten vergleichen, und die Wiederholungen.",
              more: "Die Nutzdatenrate in beiden Spalten vergleichen, und die Wiederholungen.",
            },
            why: "TCP sendet in Bursts. Der Policer verwirft davon, und nach jedem Verlust ist das Fenster halbiert, ohne dass etwas wartet, das die Leitung belegt hielte. Das leistet die Warteschlange des Shapers, um den Preis der Verzögerung.",
          },
        },
      },
      l4s: {
        title: "L4S",
        minutes: 10,
        text: [
          "Ein klassischer Sender halbiert sein Fenster bei einem Verlust und braucht eine Warteschlange, von der er zehrt. Ein *skalierbarer* Sender (TCP Prague) wird mit ECN früh und oft markiert und wird jedes Mal ein wenig langsamer. Er braucht fast keine Warteschlange.",
          "*DualPI2* hat zwei Warteschlangen. Skalierbare Pakete tragen ECT(1) und kommen in die Schlange L, die ab etwa 1 ms Wartezeit markiert. Klassische kommen in die Schlange C, die auf ein Ziel von 15 ms geregelt wird.",
          "Beide sollen gleich viel bekommen. Darum sind die Schlangen *gekoppelt*: Aus einer Wahrscheinlichkeit p′ werden klassische Pakete mit p′² verworfen und skalierbare mit k · p′ markiert, mit k = 2. Das Quadrat steht dort, weil die klassische Rate mit 1/√p geht, die skalierbare mit 1/p.",
          "Der Dienst heißt L4S: low latency, low loss, scalable throughput.",
        ],
        tries: [
          "Raten und Verzögerungen in beiden Spalten vergleichen. In einer FIFO warten beide.",
          "Das Ziel der Schlange C senken. Was wird aus beiden Verzögerungen und aus der Rate von CUBIC?",
          "CUBIC-Ströme hinzunehmen. Die Verzögerung von Prague bleibt.",
        ],
        controls: { target: "Ziel der klassischen Schlange", share: "CUBIC-Ströme" },
        options: {},
        measures: {
          pragueRate: "Prague: Nutzdatenrate",
          cubicRate: "CUBIC: Nutzdatenrate",
          prague99: "Prague: Verzögerung, 99. Perzentil",
          cubic99: "CUBIC: Verzögerung, 99. Perzentil",
          marks: "Prague: markierte Pakete",
          drops: "CUBIC: Paketverlust",
        },
        curves: { cwnd: "Staukontrollfenster" },
        questions: {
          coupled: {
            ask: "Die Kopplung markiert {marked} der skalierbaren Pakete (k = 2). Wie viel Prozent der klassischen Pakete werden verworfen?",
            hints: {
              uncoupled: "p′ ist der markierte Anteil, geteilt durch k.",
              straight: "Das ist p′. Klassische Pakete werden mit dem Quadrat davon verworfen.",
              same: "Klassische Sender kämen zum Stillstand: Sie werden seltener getroffen, mit dem Quadrat.",
              unsquared:
                "Den Anteil als Zahl zwischen 0 und 1 quadrieren, dann in Prozent umrechnen.",
              late: "Erst durch k teilen, dann quadrieren.",
            },
            why: "p′ = {marked} / 2, klassische Pakete werden mit p′² verworfen. Wenige Verluste wiegen so viel wie viele Markierungen.",
          },
          later: {
            ask: "Nach den eigenen Läufen mit DualPI2: Um wie viele ms sind die Pakete von CUBIC später als die von Prague, beim 99. Perzentil? Vorher die Regler auf die eigenen Zahlen zurückstellen.",
            hints: {
              cubic: "Das ist die Verzögerung von CUBIC. Die von Prague abziehen.",
              prague: "Das ist die Verzögerung von Prague. Von der von CUBIC abziehen.",
              fifo: "Das ist der Unterschied in der FIFO.",
              queues:
                "Das vergleicht Prague in beiden Spalten. Gefragt ist CUBIC gegen Prague mit DualPI2.",
            },
            why: "Der Pfad ist derselbe. Der Unterschied ist die Wartezeit: CUBIC steht in der Schlange C, Prague läuft durch die Schlange L.",
          },
          fifo: {
            ask: "In einer FIFO ohne ECN: Wie lange warten die Pakete von Prague?",
            choices: {
              short: "so kurz wie mit DualPI2, weil der Sender skalierbar ist",
              long: "so lange wie die von CUBIC",
            },
            hints: { short: "Die Verzögerung von Prague in beiden Spalten vergleichen.", long: "" },
            why: "Eine Warteschlange hat eine Verzögerung. Kurze Verzögerung braucht beides: einen Sender, der auf frühe Markierungen reagiert, und eine Warteschlange, die seine Pakete von denen klassischer Sender trennt.",
          },
        },
      },
    },
  },

  // The engineer's page.
  router: {},

  // Editor, check, run, results.
  scenario: {},

  // Figures of the papers.
  papers: {},
};
