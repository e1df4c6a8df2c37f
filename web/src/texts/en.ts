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
      delayPointer: (title: string) => `${title}: delay pointed at`,
      longer: (share: string, delay: string) => `${share} take longer than ${delay}`,
      logarithmic: "Logarithmic axis of delay",
    },
    editor: {
      escape: "Escape, then Tab leaves the editor.",
      /** What CodeMirror says. */
      phrases: {} as Record<string, string>,
      required: "required",
      oneOf: "one of",
      examples: "such as",
    },
  },

  // Watch a queue breathe.
  watch: {
    title: "Watch a queue breathe",
    lead: "Packets come in from the left, wait, and drain over the line. Each picture shows one port at one moment; everything is simulated packet by packet.",
    play: "Play",
    pause: "Pause",
    back: "One packet back",
    forward: "One packet on",
    toStart: "To the start",
    speed: "Speed",
    asFast: "as fast as it runs",
    times: (factor: string) => `× ${factor}`,
    time: "Time",
    axis: "Time, with the packets that wait",
    zoomIn: "Zoom in",
    zoomOut: "Zoom out",
    whole: "Whole time",
    keys: "Space plays and pauses. Left and right arrows step by packet, with Shift by ten. Plus and minus zoom.",
    port: "Port",
    variant: "Queue",
    beside: "Beside it",
    nothing: "nothing",
    variants: "Variants of the scenario",
    policies: "Policies of the scenario",
    mechanisms: "Mechanisms",
    asItIs: "as it is",
    color: "Color by",
    colors: { class: "class", flow: "flow" },
    lanes: "Lanes by",
    groupings: { queue: "queue", flow: "flow", class: "class" },
    picture: (name: string) => `The port under ${name}`,
    running: "Runs …",
    starting: "The simulator starts …",
    failed: "This cannot be run",
    crashed: (why: string) => `The simulator stopped: ${why}. It starts anew with the next change.`,
    leftOut: (count: string, time: string) =>
      `The recording ends at ${time}: ${count} later events are not shown.`,
    none: "No packet came to this port.",
    took: (seconds: string) => `New recording in ${seconds}.`,
    events: (count: string) => `${count} events`,
    sliders: "Sliders",
    moreNumbers: "More numbers",
    search: "Search the numbers",
    others: (count: number) => `${count} more: search for them.`,
    reset: "Reset",
    openScenario: "Open in the scenario page",
    tooLong: "The scenario is too long for a link.",
    drawn: {
      packets: (count: number) => (count === 1 ? "1 packet" : `${count} packets`),
      average: (packets: string) => `average ${packets}`,
      probability: (percent: string) => `p ${percent}`,
      more: (count: number) => `+ ${count} more`,
      limit: (limit: string) => `limit ${limit}`,
      reason: (name: string) => `dropped: ${name}`,
      idle: "idle",
    },
    said: {
      state: (waiting: number, parts: string) =>
        waiting === 0
          ? "No packet waits."
          : `${waiting === 1 ? "1 packet waits" : `${waiting} packets wait`}${parts && `: ${parts}`}.`,
      part: (count: number, name: string) => `${count} ${name}`,
      sends: (name: string, percent: string) => `A packet of ${name} is being sent (${percent}).`,
      idle: "The line is idle.",
      counts: (left: number, dropped: number, marked: number) =>
        `So far ${left} left, ${dropped} were dropped${marked ? `, ${marked} were marked` : ""}.`,
      average: (queue: string, packets: string) => `Average of ${queue}: ${packets} packets.`,
      arrives: (flow: string, number: number) => `Packet ${number} of ${flow} arrives.`,
      leaves: (flow: string, number: number, wait: string) =>
        `Packet ${number} of ${flow} leaves after ${wait}.`,
      drops: (flow: string, number: number, reason: string) =>
        `Packet ${number} of ${flow} is dropped: ${reason}.`,
      marks: (flow: string, number: number) => `Packet ${number} of ${flow} is marked.`,
    },
    packet: {
      title: (number: number) => `Packet ${number}`,
      flow: "Flow",
      class: "Class",
      queue: "Queue",
      size: "Size",
      arrived: "Came at",
      waited: "Waited",
      waits: "Has waited",
      left: "Sent at",
      dropped: "Dropped at",
      reason: "Why",
      marked: "Marked at",
      close: "Close",
    },
    charts: {
      queue: "Packets waiting",
      delay: "Delay at the port, longest",
      rates: "Rate sent",
      cwnd: "Congestion windows",
      bound: (classes: string) => `bound: ${classes}`,
      of: (chart: string, side: string) => `${chart}: ${side}`,
    },
    outcome: {
      title: "What became of it",
      class: "Class",
      flow: "Flow",
      queue: "Queue",
      rate: "Rate sent",
      mean: "Mean delay",
      p99: "99 % delay",
      loss: "Dropped",
      marked: "Marked",
    },
  },

  // The eight lessons.
  lessons: {
    title: "Eight lessons about queues",
    intro:
      "Each lesson takes 5 to 10 minutes. Move the sliders, watch what the queue does, then answer. Answers are checked by a formula or by a run of the simulator with your own numbers.",
    minutes: (n: number) => `${n} minutes`,
    lesson: (n: number) => `Lesson ${n}`,
    all: "All lessons",
    next: "Next lesson",
    progress: (right: number, all: number) => `${right} of ${all} right`,
    number: "Your number",
    numberHint:
      "Up to 12 digits, from your teacher. It chooses the rates and sizes of your exercises. Without a number you get the standard ones.",
    numberBad: "Write up to 12 digits, nothing else.",
    numberIs: (n: string) => `Number ${n}`,
    nobody: "No number: the standard parameters",
    sheet: "Answer sheet",
    forTeachers: "For teachers: all expected answers",
    save: "Save as a file",
    load: "Open a saved file",
    loaded: (n: string) => `Opened the work of number ${n}.`,
    notLoaded: "This file is no saved work of these lessons.",
    erase: "Erase this number’s answers",
    erased: (n: string) => `Erased the answers of number ${n}.`,
    sureErase: (n: string) => `Erase all answers of number ${n}? This cannot be undone.`,
    notKept: "This browser keeps nothing for this page. Save your work as a file.",
    yours: "Your numbers",
    settings: "Sliders",
    reset: "Back to your numbers",
    tryThis: "Try this",
    measured: "Measured",
    measuredIn: (seconds: string) => `Simulated in ${seconds} s`,
    running: "Running …",
    failed: (why: string) => `The run failed: ${why}`,
    quantity: "Quantity",
    theory: "Formula",
    ofVariant: (quantity: string, variant: string) => `${quantity}, ${variant}`,
    interval: "± is the 95 % interval over the runs: so far off may chance put the mean.",
    chart: "The queue over time",
    questions: "Questions",
    question: (n: number) => `Question ${n}`,
    answer: "Your answer",
    answerIn: (unit: string) => `Your answer in ${unit}`,
    check: "Check",
    checking: "Checking …",
    right: "Right.",
    wrong: "Not yet.",
    why: "Why",
    tries: (n: number) => (n === 1 ? "1 try" : `${n} tries`),
    byFormula: (digits: number) =>
      `Checked by a formula. Round to ${digits} significant digits or give more: half a unit of the last of these is allowed.`,
    byRun: (digits: number) =>
      `Checked by a run with your numbers. Round to ${digits} significant digits or give more: half a unit of the last of these is allowed.`,
    whole: "Checked by a formula. A whole number, exactly.",
    choiceByFormula: "The right choice is computed from your numbers.",
    choiceByRun: "The right choice is found by a run with your numbers.",
    units: { packets: "packets", "": "" } as Record<string, string>,
    said: {
      near: "Close: the way is right, the arithmetic is not exact enough.",
      low: "Too small.",
      high: "Too large.",
      wrong: "This is not it.",
      unreadable:
        "This is no number. Write digits, with a point or a comma before decimals and nothing between thousands.",
      unit: (unit: string) => `Give the answer in ${unit}.`,
      bits: "Off by a factor of 8: one byte has eight bits.",
      prefix: "Off by a factor of 1000: look at the prefixes, such as ms and s, kb/s and Mb/s.",
      bitsAndPrefix:
        "Off by bytes and bits and by a prefix: write each quantity with its unit, then convert.",
      percent: "Off by a factor of 100: the answer is asked for in percent.",
      sign: "The sign is wrong.",
    },
    sheetTitle: "Answers about queues",
    name: "Name",
    date: "Date",
    parameters: "Parameters",
    given: "Answer",
    mark: "Checked",
    marks: { right: "✓ right", wrong: "✗ wrong", none: "– no answer" },
    digest: "Run",
    digestHint:
      "The first digits of the run’s fingerprint. The same scenario gives the same one everywhere, also on the command line.",
    code: "Check code",
    codeHint:
      "The code holds which questions are right. It guards against slips of the pen, not against cheating: whoever reads the program can compute it.",
    print: "Print",
    back: "Back to the lessons",
    answersTitle: "Expected answers",
    answersIntro:
      "One number a line, or separated by commas. The answers are computed here, by the same formulas and runs that check the students’ answers.",
    numbers: "Students’ numbers",
    compute: "Compute",
    computed: (done: number, all: number) => `${done} of ${all} numbers`,
    cancel: "Stop",
    tooMany: (most: number) => `At most ${most} numbers at a time.`,
    noNumbers: "There is no number in the list.",
    student: "Number",
    fullCode: "Code if all is right",
    codeField: "A student’s check code",
    codeRight: (right: number, all: number) => `${right} of ${all} right`,
    codeBad: "This is no code of this number.",
    csv: "Save as CSV",
    names: {
      rate: "rate of the line",
      bytes: "packet",
      load: "load",
      high: "higher load",
      modest: "modest flow offers",
      greedy: "greedy flow offers",
      camera: "one camera",
      count: "cameras",
      limit: "limit of the priority class",
      rtt: "round trip",
      share: "buffer, of what the path holds",
      buffer: "buffer",
      min: "lower threshold",
      max: "upper threshold",
      most: "probability at the upper threshold",
      at: "average queue",
      queue: "queue",
      arrivals: "arrivals",
      bucket: "bucket",
      size: "burst",
      marked: "marked",
    } as Record<string, string>,
    set: {
      queues: {
        title: "Why queues exist",
        minutes: 6,
        text: [
          "A line sends one packet at a time. A packet that comes while another is being sent has to wait. The place where it waits is the queue.",
          "The *load* ρ is the rate at which data come, divided by the rate of the line. Below a load of 100 % the line can carry everything. Packets wait nevertheless, because they come irregularly: sometimes none, sometimes several at once.",
          "Here packets come at random (Poisson arrivals), all of the same length. This queue is called M/D/1. A packet takes the time T to be sent. The mean wait in the queue is W = ρ / (2 (1 − ρ)) · T.",
          "If lengths are random, too (exponential: M/M/1), the wait is twice as long. Irregularity makes queues; load makes them grow.",
        ],
        tries: [
          "Raise the load from 50 % to 80 %, then to 95 %. Compare the measured wait with the formula.",
          "Set random lengths. By which factor does the wait change?",
          "At 98 % the measured wait may be far from the formula. Look at the interval: such a queue needs a long time to show its mean.",
        ],
        controls: { load: "Load", lengths: "Lengths of packets" },
        options: { alike: "alike (M/D/1)", random: "random (M/M/1)" },
        measures: {
          utilization: "Utilization of the line",
          wait: "Mean wait in the queue",
          waiting: "Packets waiting, mean",
          wait99: "Wait, 99th percentile",
        },
        curves: { backlog_packets: "Packets waiting" },
        questions: {
          transmission: {
            ask: "How long does the line of {rate} take to send one packet of {bytes}, in ms?",
            hints: {
              inverse:
                "This is how many packets go in a millisecond. Asked is how many milliseconds one packet takes.",
            },
            why: "T = length in bits / rate. A packet of {bytes} has eight times as many bits as bytes.",
          },
          wait: {
            ask: "The load is {load}. How long does a packet wait in the queue on average, in ms, by the formula of M/D/1?",
            hints: {
              exponential:
                "This is the wait with random lengths (M/M/1). Here all packets are alike.",
              delay:
                "This is the wait together with the time on the line. Asked is the wait in the queue only.",
              units:
                "This is the wait in packets’ times. Multiply by the time that one packet takes.",
              percent: "Put the load into the formula as a number between 0 and 1, not in percent.",
            },
            why: "W = ρ / (2 (1 − ρ)) · T with ρ = {load}. What counts is 1 − ρ: the less of the line is left idle, the longer the wait.",
          },
          growth: {
            ask: "The load rises from {load} to {high}. By which factor does the mean wait grow?",
            choices: {
              load: "by {load} times",
              idle: "by {idle} times",
              wait: "by {wait} times",
              square: "by {square} times",
            },
            hints: {
              load: "The wait grows faster than the load: look at the 1 − ρ in the formula.",
              idle: "Both ρ above and 1 − ρ below change.",
              square: "ρ and 1 − ρ stand in the formula once, not squared.",
              wait: "",
            },
            why: "ρ / (1 − ρ) grows by the ratio of the loads times the ratio of what is left idle. Close to 100 % a little more load costs much delay.",
          },
        },
      },
      scheduling: {
        title: "FIFO, priority and fair queueing",
        minutes: 8,
        text: [
          "When several packets wait, somebody must say which goes next. This is the *scheduler*.",
          "*FIFO* (first in, first out) sends in the order of arrival. All flows share one queue, its delay and its losses. Who sends more gets more.",
          "*Strict priority* sends packets of the first class whenever there are any. A packet that is already on the line is not interrupted.",
          "*Fair queueing* gives each flow a queue of its own and takes turns (here deficit round robin). A flow that wants less than an equal share gets all it wants. What it leaves is shared by the others: *max-min fairness*.",
          "On this line there are a call (80 kb/s in packets of 200 B), a modest flow and a greedy one that does not slow down.",
        ],
        tries: [
          "Lower the greedy flow to 50 %. Nothing is lost, whatever the scheduler. Schedulers matter where packets wait.",
          "Raise it to 200 %. In which columns does the modest flow suffer?",
          "Compare the call’s delay with priority and with fair queueing.",
        ],
        controls: { greedy: "The greedy flow offers, of the line" },
        options: {},
        measures: {
          call99: "Call: delay, 99th percentile",
          callLoss: "Call: loss",
          modestRate: "Modest flow: rate",
          modestLoss: "Modest flow: loss",
          greedyRate: "Greedy flow: rate",
        },
        curves: { throughput: "Rate" },
        questions: {
          residual: {
            ask: "The call has strict priority on a line of {rate}. Other packets have {bytes}. How long may a packet of the call wait at most before its own transmission begins, in ms?",
            hints: {
              own: "This is the transmission of the call’s own packet. For which packet does it wait?",
              both: "The transmission of the call’s own packet is not part of the wait.",
              delay:
                "This is the whole delay with propagation. Asked is the wait in the queue only.",
              propagation: "The propagation delay is not part of the wait.",
              half: "This is the mean wait if another packet is on the line. Asked is the longest.",
            },
            why: "A packet on the line is not interrupted. In the worst case a packet of {bytes} has just begun. All other packets stand behind the call. Its wait does not depend on the load of the others.",
          },
          share: {
            ask: "The modest flow offers {modest} of the line of {rate}, the greedy one {greedy}. Under fair queueing, which rate does the greedy flow get, in Mb/s? (The call takes 80 kb/s.)",
            hints: {
              third:
                "An equal third for each: the call and the modest flow do not want that much. Who gets what they leave?",
              proportional: "This is what FIFO gives it: in proportion to what it offers.",
              wanted:
                "This is what it offers. The line does not carry that much beside the others.",
              half: "The line is not halved. Flows that want less than their share leave the rest.",
            },
            why: "The call and the modest flow want less than a third of the line, so they get all they want. The greedy flow gets the rest. It loses what it sends above that.",
          },
          protects: {
            ask: "Nobody has classified the modest flow. Under which scheduler does it lose the least?",
            choices: { FIFO: "FIFO", priority: "priority for the call", fair: "fair queueing" },
            hints: {
              FIFO: "In a FIFO everybody’s packets find the same full queue.",
              priority:
                "Only the call has priority. The modest flow still shares a queue with the greedy one.",
              fair: "",
            },
            why: "Fair queueing keeps a queue for each flow. The greedy flow fills its own queue and loses its own packets.",
          },
        },
      },
      starvation: {
        title: "Starvation",
        minutes: 6,
        text: [
          "Strict priority is simple and gives the shortest waits. It has one danger: others are served only when nothing of the first class waits.",
          "Here cameras have priority over data. If the cameras together send more than the line carries, the data get nothing. They *starve*.",
          "A limit on the priority class ends that. A *policer* lets the class send up to a rate; it drops what exceeds it. Routers call this low-latency queueing (LLQ).",
        ],
        tries: [
          "Add one camera after another. What is left for the data in both columns?",
          "Find the number of cameras at which the data get nothing without a limit.",
          "Look at the loss of the video then: with a limit it begins earlier. Somebody always pays.",
        ],
        controls: { cameras: "Cameras" },
        options: {},
        measures: {
          videoRate: "Video: rate",
          videoLoss: "Video: loss",
          dataRate: "Data: rate",
          data99: "Data: delay, 99th percentile",
        },
        curves: { throughput: "Rate" },
        questions: {
          left: {
            ask: "Cameras: {count}, each {camera}. The line has {rate}, and the data would take all of it. Without a limit: which rate do the data get, in Mb/s?",
            hints: {
              video: "This is what the cameras get.",
              fair: "Priority does not share equally.",
              halves: "Priority does not halve the line.",
            },
            why: "Priority takes what it wants, the data get the rest: the rate of the line less that of all cameras.",
          },
          starve: {
            ask: "How many cameras of {camera} does it take until the data on the line of {rate} get nothing?",
            hints: {
              fewer: "So many cameras still leave a little.",
              more: "One camera fewer is enough.",
            },
            why: "The data get nothing as soon as the cameras together want at least the rate of the line: the first whole number above the quotient.",
          },
          limited: {
            ask: "Now the priority class is limited to {limit} of the line of {rate}. Which rate do the data get, however many cameras there are, in Mb/s?",
            hints: {
              limit: "This is what the cameras get.",
              nothing: "The limit is there so that something is left.",
              guaranteed: "The limit counts, not the number of cameras.",
            },
            why: "The policer passes no more than its rate. The rest of the line is left to the data for certain.",
          },
          excess: {
            ask: "The cameras send more than the limit. What becomes of the packets above it?",
            choices: {
              dropped: "The policer drops them on arrival.",
              waits: "They wait in the priority queue until it is full.",
              data: "They wait together with the data.",
            },
            hints: {
              dropped: "",
              waits: "A long priority queue would be late for everybody in it.",
              data: "They would come out of order and too late.",
            },
            why: "A policer has no queue. Speech and video that come late are as good as lost, so it drops at once and keeps the class’s delay short.",
          },
        },
      },
      sawtooth: {
        title: "TCP’s sawtooth",
        minutes: 8,
        text: [
          "TCP does not know the rate of the line. It sends a *window* of packets, waits for acknowledgments, and learns from losses.",
          "While nothing is lost, NewReno adds one packet to the window each round trip. When a packet is lost, it reduces the window at once. The window draws a sawtooth.",
          "The path itself holds packets: rate times round-trip time, the *bandwidth-delay product*. What the window has beyond that waits in the buffer. When the buffer is full, a packet is lost.",
          "If the reduced window is smaller than what the path holds, the buffer runs empty and the line is idle for a while.",
        ],
        tries: [
          "Make the buffer small. Watch the utilization of the line.",
          "Make it 200 %. The line is always busy, and the wait never ends.",
          "Choose CUBIC. Its window grows fast far from the last loss, slowly near it.",
        ],
        controls: { buffer: "Buffer, of what the path holds", sender: "Congestion control" },
        options: { newreno: "NewReno", cubic: "CUBIC" },
        measures: {
          utilization: "Utilization of the line",
          goodput: "Goodput",
          wait: "Mean wait in the queue",
          drops: "Packets dropped",
        },
        curves: { cwnd: "Congestion window", backlog_packets: "Packets waiting" },
        questions: {
          path: {
            ask: "How many packets of 1500 B does the path hold, at {rate} and a round trip of {rtt}?",
            hints: {
              oneWay:
                "A packet is on its way until its acknowledgment is back: take the whole round trip.",
              bytes: "The rate is in bits. A packet has 1500 bytes.",
              kilobytes: "This is the number of kilobytes. Asked are packets.",
            },
            why: "Rate · round-trip time are the bits on their way. Divided by 12,000 bits a packet, these are the packets.",
          },
          top: {
            ask: "The buffer has {share} of that. At about how many packets in flight is one lost?",
            hints: {
              path: "With so many the queue only begins to grow.",
              buffer: "The packets on their way count, too.",
              half: "This is what is left after the loss.",
              twice: "The buffer counts once.",
            },
            why: "The path is full, then the buffer is full, then the next packet is lost: path + buffer.",
          },
          kept: {
            ask: "To which part of the window does NewReno go back after a loss?",
            choices: {
              half: "to a half",
              seven: "to seven tenths",
              one: "to one packet",
              same: "It keeps the window.",
            },
            hints: {
              half: "",
              seven: "This is what CUBIC does. Look at the curve of NewReno.",
              one: "This happens after a timeout only, or with TCP Tahoe.",
              same: "Look at the curve: it falls at each loss.",
            },
            why: "Multiplicative decrease: the window is halved, so a standing queue drains within a round trip. Additive increase: it grows by one packet each round trip.",
          },
          smallest: {
            ask: "Which is the smallest buffer, in packets, with which this one connection keeps the line busy after each loss?",
            hints: {
              twice: "Half of path + buffer has to fill the path.",
              half: "Then half of path + buffer is less than the path holds.",
            },
            why: "After a loss (path + buffer) / 2 packets are left. They fill the path if the buffer is as large as the path: the classic rule, one bandwidth-delay product. Many connections that are not in step need much less.",
          },
        },
      },
      bufferbloat: {
        title: "Bufferbloat and CoDel",
        minutes: 8,
        text: [
          "A loss is TCP’s signal to slow down. A large buffer delays this signal, and TCP fills the buffer. Everybody’s packets wait behind it. This is *bufferbloat*.",
          "Here one upload and one call share the line to the internet, in one queue.",
          "*CoDel* (controlled delay) does not look at the length of the queue but at the time that packets have waited. If every packet of an interval of 100 ms waited longer than a target of 5 ms, the queue is a standing one: it drops a packet, then more and more often until the wait is below the target.",
          "A short burst passes unharmed. A standing queue does not last.",
        ],
        tries: [
          "Make the buffer smaller. The delay of FIFO falls with it; CoDel’s hardly changes.",
          "Make it very small. What happens to the upload?",
          "Raise CoDel’s target and watch the call’s delay.",
        ],
        controls: { buffer: "Buffer", target: "CoDel’s target" },
        options: {},
        measures: {
          callMean: "Call: mean delay",
          call99: "Call: delay, 99th percentile",
          callLoss: "Call: loss",
          goodput: "Upload: goodput",
        },
        curves: { backlog_packets: "Packets waiting" },
        questions: {
          full: {
            ask: "The buffer of {buffer} is full of packets of 1500 B. How long does the next packet wait at {rate}, in ms?",
            hints: {
              propagation: "The propagation delay is not part of the wait in the buffer.",
              call: "The packets in front of it are the upload’s, of 1500 B.",
              kilobytes:
                "This is the size of the buffer in kB. How long does the line take to send it?",
            },
            why: "All packets in front have to be sent first: their bits, divided by the rate. A buffer is a delay; its length in packets says nothing without the rate.",
          },
          times: {
            ask: "By your runs: by which factor is the call’s delay (99th percentile) longer with FIFO than with CoDel? Set the sliders back to your numbers first.",
            hints: {
              inverse: "The other way round: FIFO divided by CoDel.",
              means: "These are the means. Asked are the 99th percentiles.",
              difference: "This is the difference in ms. Asked is the factor.",
            },
            why: "The same buffer, the same traffic: CoDel only drops a few packets at the right time.",
          },
          cost: {
            ask: "What does the short queue cost the upload?",
            choices: {
              tenth: "less than a tenth of its goodput",
              half: "between a tenth and a half of its goodput",
              most: "more than half of its goodput",
            },
            hints: {
              tenth: "",
              half: "Compare the goodput in both columns.",
              most: "Compare the goodput in both columns.",
            },
            why: "A line is busy as long as one packet waits. What waits beyond that makes nothing faster.",
          },
        },
      },
      red: {
        title: "RED breathing",
        minutes: 10,
        text: [
          "*RED* (random early detection) drops before the queue is full, so that senders slow down in time and not all at once.",
          "It keeps an average of the queue. With each arrival, average ← (1 − w) · average + w · queue, with a small weight w.",
          "Below the lower threshold nothing is dropped. Between the thresholds the drop probability rises in proportion, from 0 to its highest value at the upper threshold. Above it rises on, to 1 at twice the upper threshold (gentle RED).",
          "TCP answers a drop one round trip later. Average and senders form a control loop. If both are about as slow, the queue swings: it *breathes*.",
        ],
        tries: [
          "Watch queue and average with the standard weight 0.002: the average comes late, and the queue overshoots.",
          "Choose 0.02. The average follows the queue.",
          "Raise the number of flows, then the highest probability. When does the queue come to rest?",
        ],
        controls: { weight: "Weight of the average", most: "Highest probability", flows: "Flows" },
        options: {},
        measures: {
          queue: "Packets waiting, mean",
          longest: "Packets waiting, most",
          early: "Early drops",
          utilization: "Utilization of the line",
        },
        curves: { backlog_packets: "Packets waiting", backlog_average: "RED’s average" },
        questions: {
          probability: {
            ask: "Thresholds {min} and {max}, highest probability {most}. The average is {at}. Which drop probability does RED begin with, in percent?",
            hints: {
              way: "This is the way between the thresholds in percent. It has to be multiplied by the highest probability.",
              zero: "The probability begins to rise at the lower threshold, not at 0.",
              other: "This is the distance to the upper threshold. Take that to the lower one.",
            },
            why: "p = highest · (average − lower) / (upper − lower). RED then spreads the drops evenly over arrivals.",
          },
          average: {
            ask: "The queue was empty for long. Now it has {queue}, and stays so. What is the average after {arrivals} more arrivals, with weight 0.002, in packets?",
            hints: {
              rest: "This is how far the average is still off.",
              straight:
                "The average does not grow in a straight line: each step is a part of what is still missing.",
              queue: "The average is much slower than that.",
              once: "This is the first step only.",
            },
            why: "What is missing shrinks by the factor 1 − w with each arrival: average = queue · (1 − (1 − w)ⁿ). It takes about 1/w = 500 arrivals to forget.",
          },
          swing: {
            ask: "With which of these weights does the queue swing most (standard deviation)? Set the sliders back to your numbers and try.",
            choices: {
              fast: "{fast}: a fast average",
              standard: "{standard}: the standard weight",
              slow: "{slow}: a slow average",
            },
            hints: {
              fast: "The average follows the queue closely, and the drops come in time.",
              standard: "",
              slow: "The average hardly moves: the drop probability is nearly constant.",
            },
            why: "An average that is about as slow as TCP reacts too late: it drops most when the senders have already slowed down. A much faster one is in time; a much slower one does not take part in the swing.",
          },
        },
      },
      policer: {
        title: "Policer against shaper",
        minutes: 8,
        text: [
          "A *token bucket* fills with tokens at a rate r, up to a depth b. A packet that goes takes as many tokens as it has bytes.",
          "A *policer* drops a packet that finds too few tokens. A *shaper* puts it into a queue until there are enough. Both let bursts of b pass at once, and the rate r in the long run.",
          "Here a camera sends bursts over a line of 20 Mb/s. A TCP download with a round trip of 50 ms has a token bucket of its own of the same size.",
        ],
        tries: [
          "Make the bucket larger than the burst. Nothing is dropped, nothing waits.",
          "Make it small. Who pays with loss, who with delay?",
          "Watch the tokens: they fall during a burst and rise in a straight line after it.",
        ],
        controls: { bucket: "Depth of the bucket" },
        options: {},
        measures: {
          burstLoss: "Bursts: loss",
          burstLongest: "Bursts: longest delay",
          goodput: "Download: goodput",
          retransmits: "Download: retransmits",
          downloadDelay: "Download: mean delay",
        },
        curves: { tokens_policer: "Tokens of the policer", tokens_shaper: "Tokens of the shaper" },
        questions: {
          passed: {
            ask: "A burst of {size} comes at 20 Mb/s to a policer with r = {rate} and a full bucket of b = {bucket}. How much of it passes in all, in kB?",
            hints: {
              bucket: "While the burst lasts, new tokens come.",
              first: "So much passes until the first drop. Tokens come after that, too.",
              dropped: "This is what is dropped.",
              tokens: "These are the new tokens. The bucket was full at the beginning.",
              all: "Tokens are not enough for all of it.",
            },
            why: "b + r · t, with t the time that the burst lasts: {size} at 20 Mb/s. The policer lets through whatever finds tokens, until the last packet.",
          },
          wait: {
            ask: "The same burst comes to a shaper with the same bucket. How long does its last packet wait, in ms?",
            hints: {
              bucket: "The first {bucket} go at once: they find tokens.",
              arrival:
                "The last packet comes only at the end of the burst. Take off how long the burst lasts.",
              both: "Take off what finds tokens at once, and how long the burst lasts.",
              propagation: "The propagation delay is not part of the wait.",
            },
            why: "The last packet leaves when tokens for all have come: (burst − b) / r after the beginning. It came when the burst ended.",
          },
          download: {
            ask: "The TCP download: what does it get behind the policer, compared with the shaper of the same rate?",
            choices: { less: "less", same: "the same", more: "more" },
            hints: {
              less: "",
              same: "Compare the goodput in both columns, and the retransmits.",
              more: "Compare the goodput in both columns, and the retransmits.",
            },
            why: "TCP sends in bursts. The policer drops them, and after each loss the window is halved with nothing waiting that could keep the line busy. The shaper’s queue does that, at the price of delay.",
          },
        },
      },
      l4s: {
        title: "L4S",
        minutes: 10,
        text: [
          "A classic sender halves its window at a loss and needs a queue to live on. A *scalable* sender (TCP Prague) is marked early and often by ECN, and slows down a little each time. It needs next to no queue.",
          "*DualPI2* has two queues. Scalable packets carry ECT(1) and go to the queue L, which marks from about 1 ms of wait. Classic packets go to the queue C, which is held at a target of 15 ms.",
          "Both should get the same rate. So the queues are *coupled*: from one probability p′, classic packets are dropped with p′², scalable ones are marked with k · p′, with k = 2. The square is there because a classic rate goes with 1/√p, a scalable one with 1/p.",
          "The service is called L4S: low latency, low loss, scalable throughput.",
        ],
        tries: [
          "Compare rates and delays in both columns. In one FIFO both wait.",
          "Lower the target of the queue C. What happens to both delays, and to CUBIC’s rate?",
          "Add CUBIC flows. Prague’s delay stays.",
        ],
        controls: { target: "Target of the classic queue", share: "CUBIC flows" },
        options: {},
        measures: {
          pragueRate: "Prague: goodput",
          cubicRate: "CUBIC: goodput",
          prague99: "Prague: delay, 99th percentile",
          cubic99: "CUBIC: delay, 99th percentile",
          marks: "Prague: packets marked",
          drops: "CUBIC: loss",
        },
        curves: { cwnd: "Congestion window" },
        questions: {
          coupled: {
            ask: "The coupling marks {marked} of the scalable packets (k = 2). How many percent of the classic packets are dropped?",
            hints: {
              uncoupled: "p′ is the share that is marked, divided by k.",
              straight: "This is p′. Classic packets are dropped with its square.",
              same: "Classic senders would stand still: they are hit more rarely, with the square.",
              unsquared: "Square the share as a number between 0 and 1, then turn it into percent.",
              late: "Divide by k before you square.",
            },
            why: "p′ = {marked} / 2, classic packets are dropped with p′². Few drops weigh as much as many marks.",
          },
          later: {
            ask: "By your runs under DualPI2: how many ms later are CUBIC’s packets than Prague’s, at the 99th percentile? Set the sliders back to your numbers first.",
            hints: {
              cubic: "This is CUBIC’s delay. Take off Prague’s.",
              prague: "This is Prague’s delay. Take it off CUBIC’s.",
              fifo: "This is the difference in the FIFO.",
              queues:
                "This compares Prague in both columns. Asked is CUBIC against Prague under DualPI2.",
            },
            why: "The path is the same. The difference is the wait: CUBIC stands in the queue C, Prague passes through the queue L.",
          },
          fifo: {
            ask: "In one FIFO without ECN: how long do Prague’s packets wait?",
            choices: {
              short: "as short as under DualPI2, because the sender is scalable",
              long: "as long as CUBIC’s",
            },
            hints: { short: "Compare Prague’s delay in both columns.", long: "" },
            why: "One queue has one delay. Low latency needs both: a sender that reacts to early marks, and a queue that keeps its packets apart from those of classic senders.",
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

export type Texts = typeof en;
