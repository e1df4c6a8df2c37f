//! Every rule: one entry each, from which lists, explanations, documentation and SARIF come.

use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The configuration cannot do what it says: `check` fails.
    Error,
    /// It does what it says, but that is hardly what was meant.
    Warning,
    /// Worth knowing.
    Note,
}

impl Level {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Stable identifier such as `SG-Q001`; Q queues and shares, C classes, A active queue
    /// management, L links, S shapers and policers, M MPLS, R what readers did not take as written, X
    /// the rules themselves.
    pub id: &'static str,
    /// Name in kebab-case.
    pub name: &'static str,
    /// How bad what it finds is.
    pub level: Level,
    /// One line.
    pub summary: &'static str,
    /// Why it hurts: paragraphs, separated by empty lines.
    pub explanation: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// Where the rule is from.
    pub source: &'static str,
}

/// Generates a constant for each rule and the list of all.
macro_rules! rules {
    ($($const:ident = $id:literal, $name:literal, $level:ident, $summary:literal;
        why $why:literal; fix $fix:literal; from $from:literal;)+) => {
        $(
            #[doc = $summary]
            pub(crate) const $const: Rule = Rule {
                id: $id,
                name: $name,
                level: Level::$level,
                summary: $summary,
                explanation: $why,
                remedy: $fix,
                source: $from,
            };
        )+
        /// Every rule, in the order of the identifiers.
        pub const RULES: &[Rule] = &[$($const),+];
    };
}

rules! {
    AF_ORDER = "SG-A001", "af-precedence-inverted", Warning,
        "WRED drops a lower drop precedence of an AF class earlier than a higher one";
        why "The three code points of an assured-forwarding class differ in one thing: what is dropped first. A node must not drop a packet of drop precedence 1 with a higher probability than one of precedence 2, nor that one with a higher probability than precedence 3. Policers upstream mark what exceeds a contract AFx2 or AFx3 and count on it.\n\nWith the thresholds inverted the excess survives and the traffic inside the contract is dropped in its place: a customer who stays below the committed rate pays for one who does not. Nothing shows it while the queue is short; under congestion the wrong packets go.";
        fix "Give AFx1 the highest minimum threshold and AFx3 the lowest; keep the maximum and the drop probability of AFx1 no stricter than those of AFx2 and AFx3.";
        from "RFC 2597, section 2: packets of lower drop precedence must not be dropped with larger probability";
    WRED_ABOVE_LIMIT = "SG-A002", "wred-above-queue-limit", Warning,
        "A RED or WRED maximum lies above the queue limit: tail drop comes first";
        why "Early detection works while the average queue is between the two thresholds. Where the queue limit is below the maximum, the queue is full before the drop probability has reached what was configured; where it is even below the minimum, nothing is ever dropped early.\n\nWhat remains is tail drop: losses come in bursts and hit all flows at once, connections back off together and recover together, and the drop precedences of the class count for nothing.";
        fix "Raise the queue limit above the maximum threshold (twice as much leaves room for bursts), or lower the thresholds.";
        from "Cisco IOS QoS configuration guide, WRED: the maximum threshold applies to the average queue, `queue-limit` to the queue; Floyd and Jacobson 1993, section 4";
    RED_THRESHOLDS = "SG-A003", "red-thresholds-close", Note,
        "The maximum threshold of RED is below three times the minimum";
        why "Between the thresholds RED turns a growing average into a growing drop probability. The closer they are, the steeper that is: a small oscillation of the average then swings between no drops and the forced drops above the maximum, and connections are synchronized, which early detection is there to prevent.\n\nFloyd and Jacobson ask for a maximum of at least twice the minimum; Floyd's later notes recommend three times.";
        fix "Lower the minimum to a third of the maximum, or raise the maximum and the queue limit with it.";
        from "S. Floyd, \"RED: Discussions of Setting Parameters\", e-mail of November 1997 (icir.org/floyd/REDparameters.txt); Floyd and Jacobson, \"Random Early Detection Gateways\", 1993, section 6.3";
    RED_MAX_P = "SG-A004", "red-probability", Note,
        "The drop probability of RED at the maximum threshold is far from 10 %";
        why "The probability at the maximum decides how strongly the gateway can push back before it drops everything. Below 1 % even a handful of long connections push the average through the maximum; above 50 % the first packets over the minimum already lose connections their windows, and the link runs empty.\n\nThe first paper used 2 %, Floyd's later recommendation is 10 %: a gateway whose steady loss has to be above that needs more capacity, not other parameters.";
        fix "Write `max_p: 0.1`, or a mark probability denominator of 10, unless a measurement says otherwise.";
        from "S. Floyd, \"RED: Discussions of Setting Parameters\", e-mail of November 1997 (icir.org/floyd/REDparameters.txt)";
    RED_WEIGHT = "SG-A005", "red-average-memory", Note,
        "The average of RED follows the queue within less than 10 ms or over more than 10 s";
        why "The weight of a sample decides how long the average remembers: about 1/weight packets, each of which takes a packet's time on the link. RED reacts to congestion that lasts several round-trip times and lets shorter bursts pass; round-trip times are between some milliseconds and some hundred.\n\nA memory below 10 ms makes the average the queue itself: bursts are dropped although the queue would have drained. A memory above 10 s is still empty when the queue has been full for seconds, and stays high long after the queue is gone.";
        fix "Choose the weight so that 1/weight packets take about one second, ten round-trip times of 100 ms: 1 - exp(-1/C) for C packets per second.";
        from "Floyd, Gummadi and Shenker, \"Adaptive RED\", 2001, section 4.3; Floyd and Jacobson 1993, section 6";
    WRED_DEAF = "SG-A006", "wred-without-reaction", Warning,
        "Early drops hit traffic that does not slow down for them";
        why "Random early detection tells senders to slow down before the queue is full. It helps when the senders listen, as TCP does. Constant-rate speech, video over UDP and network control do not: every early drop is a lost packet that buys nothing, since the offered rate stays the same.\n\nFor such a class a short queue with tail drop, or a priority queue with a policer, loses fewer packets at the same delay.";
        fix "Take `random-detect` out of the class, or move the traffic that reacts into a class of its own.";
        from "RFC 7567, section 3 (flows that do not respond to congestion); RFC 3246: EF is served at a configured rate, with small buffers";
    ECN_UNUSED = "SG-A007", "ecn-without-capable-traffic", Note,
        "ECN is on in a class whose traffic does not negotiate it";
        why "Marking in place of dropping needs senders that set ECT in the IP header (RFC 3168) and receivers that echo the mark. For packets without it the class drops as if `ecn` were not there.\n\nThe configuration then promises a loss-free class that it is not.";
        fix "Turn on ECN in the connections (`tcp: {ecn: classic}`), or leave `ecn` out.";
        from "RFC 3168, sections 5 and 6";
    CODEL_TARGET = "SG-A008", "codel-target-below-packet", Warning,
        "The target of CoDel is shorter than one packet takes at the queue's rate";
        why "CoDel calls a queue bad when packets have waited longer than `target` for a whole `interval`. Whoever finds one full-sized packet waiting waits for its transmission; at a low rate that alone is longer than the usual target of 5 ms: at 1 Mb/s it is 12 ms.\n\nThe queue is then bad as soon as two packets wait, however well the senders behave. CoDel drops more and more often, connections never keep the link busy, and throughput is lost without any queue that was worth draining.";
        fix "Write a `target` of one and a half packet times or more, and raise `interval` with it if round-trip times are longer than 100 ms.";
        from "RFC 8289 on the target and links of low rate; tc-fq_codel(8), `target`";
    SHADOWED = "SG-C001", "class-shadowed", Error,
        "Every packet of a class belongs to an earlier class";
        why "Classes are tried in the order of the policy; the first that matches takes the packet. When the conditions of the classes above include all of a class's own, the class never sees a packet, and its bandwidth is reserved for nobody.\n\nThe packets get the treatment of the class above: its share, its queue, its policer. The comparison is exact: it takes match-any, match-all, `not`, access lists with their order, ports and prefixes into account.";
        fix "Move the narrower class above the wider one, or take its packets out of the wider one's conditions.";
        from "Cisco IOS QoS command reference, `class (policy-map)`: classes are evaluated in the order in which they are configured";
    NEVER_MATCHED = "SG-C002", "class-never-matched", Warning,
        "No flow of the scenario belongs to a class";
        why "The class is reachable, but no packet of the traffic that crosses the link has what it asks for. Most often a DSCP is misspelt, packets are marked elsewhere than was thought, or a flow is missing in the scenario.\n\nThe flows that were meant for it wait in another class, mostly class-default, and results show a class with no packets.";
        fix "Compare the class's conditions with the DSCPs, addresses and ports of the traffic; leave the class out if it is to stay empty.";
        from "Spillgate: classification of the scenario's flows";
    SHARED_DSCP = "SG-C003", "dscp-in-two-classes", Warning,
        "A DSCP that an earlier class takes is listed again";
        why "The later class lists a code point whose packets never reach it, since an earlier class takes them all. The rest of the class works, which is why the mistake stays: one of two marks that look alike gets another share of the link.";
        fix "Take the code point out of one of the two classes.";
        from "Cisco IOS QoS command reference, `class (policy-map)`: the first class that matches is the packet's";
    CLASS_UNUSED = "SG-C004", "class-map-unused", Note,
        "No policy uses a class-map";
        why "A class-map without a policy classifies nothing. It is a leftover, or the class that should use it is missing or names another.\n\nLeftovers are read as if they counted: whoever changes the marking next will change it here.";
        fix "Use it in a policy-map or take it out.";
        from "Spillgate";
    POLICY_UNUSED = "SG-C005", "policy-unused", Note,
        "Nothing uses a policy";
        why "A policy that no interface, class or link has queues nothing. After a change it is often the new policy that is forgotten: it is written, and the interface still has the old one.";
        fix "Attach it (`service-policy output`), or take it out.";
        from "Spillgate";
    LIST_UNUSED = "SG-C006", "access-list-unused", Note,
        "Nothing in the configuration names an access list";
        why "An access list that nothing names filters and classifies nothing. If a class was to match it, the name differs.";
        fix "Name it in a class-map (`match access-group`), or take it out.";
        from "Spillgate";
    COS_UNTAGGED = "SG-C007", "cos-untagged", Warning,
        "A policy sets a CoS, and the frames of its interface carry no 802.1Q tag";
        why "The CoS is three bits of the 802.1Q tag. An interface without `encapsulation dot1q` (or a trunk) sends frames without a tag: the command is taken, the counters of the class go up, and the switch behind sees nothing of it. What that switch does with untagged frames is decided by its port: most often it is the queue of best effort.";
        fix "Set the CoS on the sub-interface that has the tag, or let the switch behind go by DSCP.";
        from "IEEE 802.1Q, clause 9.6 (the priority code point is in the tag); Cisco IOS QoS command reference, `set cos`";
    CONTRADICTS = "SG-C008", "class-contradictory", Error,
        "No packet can meet all criteria of a class";
        why "Every criterion of a `match-all` class-map must hold, and these exclude each other: two lists of code points without a common one, a list of UDP packets beside a protocol over TCP, a precedence beside a DSCP of another. No packet on any link can belong to the class. What was meant for it is in a later class, most often in class-default.\n\nUsually `match-any` was meant: without either word a class-map is `match-all`.";
        fix "Make the class-map `match-any` if one of the criteria is enough, or take the one that is wrong out.";
        from "Cisco IOS QoS command reference, `class-map`: match-all is the default, and all criteria must be met";
    ABOVE_MTU = "SG-L001", "packets-above-mtu", Error,
        "Flows send packets that are longer, with their MPLS labels, than a link of their path carries";
        why "A link with an `mtu` drops what is longer. Labels count: a packet of 1500 B takes 1508 B under two of them, and a core of plain Ethernet that nobody has told of labels carries 1500 B. Small packets pass, so that pings and the opening of connections look fine, and the first full page hangs.\n\nRouters may fragment an IPv4 packet that allows it; nearly all senders forbid it to find the MTU of their path, and IPv6 has no such fragments. Here nothing is fragmented and TCP does not learn of it: a connection whose segments do not fit sends the first of them again until it gives up. Of sources with random sizes only the packets above the MTU are lost.";
        fix "Raise the link's `mtu` (4 B for each label, `mpls mtu` on a router), or send shorter packets: `mss` of connections, `packet` or `mtu` of sources.";
        from "RFC 3032, section 3.3 (when labelled packets are too big); RFC 1191 and RFC 8201 (path MTU discovery)";
    EXP_UNSET = "SG-M001", "exp-not-set-from-dscp", Warning,
        "A provider edge gives marked packets EXP 0, the bits of best effort";
        why "Inside an MPLS network nodes see the EXP bits of the top label, not the DSCP below it. What an edge does not copy is lost for the whole way: a voice packet with EXP 0 waits with best effort in every core node, whatever the core's policy promises to EXP 5.\n\nWithout a table the upper three bits of the DSCP are copied. A table that maps a marked DSCP to 0 takes its class away, on purpose or by an entry that was meant for another code point.";
        fix "Take the entry out of `imposition`, give it the EXP bits that the core's classes match, or set them in a class (`set mpls experimental imposition`, `set_exp_imposition`).";
        from "RFC 3270, sections 2.5 and 2.6; RFC 5462; Cisco IOS, `set mpls experimental imposition`";
    EXP_DEFAULT = "SG-M002", "exp-left-to-default", Note,
        "A provider edge leaves the EXP bits of what it labels to the router's default";
        why "A packet that gets its first label here carries its class into the core in the EXP bits. No command of the configuration sets them, so that the router's default decides: IOS copies the upper three bits of the DSCP. EF becomes 5, all of AF3x become 3.\n\nThat is enough when the core's classes are made for it. It is not written down anywhere, differs between platforms and line cards, and trusts whatever mark the customer's packet had.";
        fix "Write it down: `set mpls experimental imposition` in the classes of an input policy, on the interfaces towards the customers.";
        from "RFC 3270, section 2.5: an ingress LSR encodes the behavior aggregate into the EXP field; Cisco IOS MPLS command reference, `set mpls experimental imposition`: input interfaces, no value is set by default";
    EXP_SHARED = "SG-M003", "classes-share-exp", Warning,
        "Classes that the edge tells apart get the same EXP bits";
        why "Three bits have eight values, the DSCP has 64. No command sets the EXP bits, so that the upper three bits of the DSCP are copied, and two classes whose code points begin alike are one class in the core: EF and CS5 both become 5, AF31 and CS3 both become 3, and the drop precedences of an AF class are gone.\n\nThe edge keeps them apart, and every node behind it mixes them: bulk signaling waits with voice, or voice with it.";
        fix "Give each class its own value with `set mpls experimental imposition` in an input policy, and match these in the core.";
        from "RFC 3270, section 2.5 and RFC 5462; Cisco IOS MPLS command reference, `set mpls experimental imposition`";
    EXP_BLIND = "SG-M004", "dscp-class-on-mpls-interface", Warning,
        "A class on an MPLS interface asks for what lies below the labels";
        why "Packets that leave by an interface with `mpls ip` have labels, and a node sees the top label only. A class that matches DSCPs, addresses or ports gets none of them; they wait in class-default, whatever mark they have.\n\nWhat the class still gets is IP traffic that the router sends without a label, such as its own routing protocols and what is reached by the last hop before it.";
        fix "Add `match mpls experimental topmost` to the class-map (`match-any`), with the EXP values that its packets have.";
        from "RFC 3032, section 2.1: the label stack stands before the network-layer header; RFC 3270, section 2.2";
    UNLIMITED = "SG-Q001", "priority-without-limit", Warning,
        "A strict-priority class without a rate or policer";
        why "A strict-priority queue is served before every other. Without a bound its traffic, or whatever carries its mark by mistake or on purpose, can take all of the link: the other classes get nothing for as long as it lasts, their guarantees included.\n\nA single host that marks a file transfer EF is enough.";
        fix "Give the class a rate (`priority percent 20`, `priority: {rate: 20 %}`) or a policer.";
        from "Cisco IOS QoS configuration guide, low latency queueing; RFC 2598, section 2, and RFC 3246, section 2.10 (a priority queue must limit the damage that EF traffic can do to others)";
    OVER_CAP = "SG-Q002", "reserved-above-cap", Warning,
        "Classes reserve more of the link than the platform allows";
        why "IOS before 12.4(20)T lets `bandwidth` and `priority` reserve 75 % of an interface, or what `max-reserved-bandwidth` says; all releases refuse reservations above the whole rate. A policy that is refused when it is attached leaves the interface with none.\n\nThe rest is for class-default, routing protocols and layer-2 keepalives, which no class counts.";
        fix "Lower the classes, or raise `max-reserved-bandwidth` where it has an effect.";
        from "Cisco IOS QoS command reference, `max-reserved-bandwidth`, `bandwidth (policy-map class)`";
    PRIORITY_THIRD = "SG-Q003", "priority-above-third", Warning,
        "Priority classes together may take more than a third of the link";
        why "What is ahead of all other queues decides how the others behave. While priority traffic is below a third of the link the remaining classes keep enough bandwidth for their queues to drain between its bursts, and the priority queue itself stays short: at a load of one third it rarely holds more than a packet or two.\n\nAbove that the delay of priority packets grows with every further call, and TCP in the other classes sees a link whose rate jumps.";
        fix "Keep the sum of all priority classes at 33 % of the link or less; put video into a class with guaranteed bandwidth.";
        from "Cisco, Enterprise QoS Solution Reference Network Design Guide, version 3.3: the 33 percent LLQ rule";
    STARVED = "SG-Q004", "class-default-starved", Warning,
        "The classes leave class-default no more than 1 % of the link";
        why "Everything that no class names is in class-default: routing updates in some designs, management, name resolution, the traffic that nobody thought of. When the other classes are backlogged it gets what they leave.\n\nWith nothing left the scheduler still serves it, at about one percent, which for TCP is a connection that does not open.";
        fix "Leave class-default a share: `bandwidth percent 25` is the usual recommendation, `bandwidth remaining` divides what is left.";
        from "Cisco, Enterprise QoS Solution Reference Network Design Guide, version 3.3: at least 25 percent for class-default";
    SHORT_QUEUE = "SG-Q005", "queue-below-burst", Warning,
        "A queue shorter than one initial window of TCP";
        why "A connection begins with a burst of ten full segments, and windows later leave in bursts of the same order. A queue that cannot hold one such burst drops part of it even when the link is idle: the connection loses packets before it has measured anything, and its first timeout may cost a second.\n\nThe loss shows at any load and does not go away with more bandwidth for the class.";
        fix "Give the queue at least ten packets of 1500 B, or their time at the class's rate.";
        from "RFC 6928: initial window of ten segments; RFC 7567, section 2 (queues are there to absorb bursts)";
    DEEP_QUEUE = "SG-Q006", "queue-above-100-ms", Warning,
        "A tail-drop queue that takes more than 100 ms to drain at the link's rate";
        why "TCP fills whatever queue it is given. A tail-drop queue that takes more than 100 ms to drain adds that much to every packet behind it, and to the round-trip time of the very connections that fill it: they are no faster for it.\n\nThe time is computed at the rate of the link, the best that the queue can get; when other classes are backlogged it takes longer. Active queue management or a fair queue bounds the delay whatever the limit.";
        fix "Shorten the queue to 50 ms at its rate, or put WRED or a fair queue into it.";
        from "Gettys and Nichols, \"Bufferbloat\", ACM Queue 9(11), 2011; RFC 7567";
    OVERSUBSCRIBED = "SG-Q007", "priority-oversubscribed", Warning,
        "A priority class is offered more than its policer admits";
        why "While anything waits in the port, a priority class may send at its rate and no faster; what exceeds it is dropped. With more offered than that, packets of every call are lost, not those of the last call alone: one call too many spoils all of them.";
        fix "Raise the rate of the class, or admit fewer calls.";
        from "Cisco IOS QoS configuration guide, low latency queueing: the priority queue is policed under congestion";
    SERIALIZATION = "SG-Q008", "serialization-on-slow-link", Warning,
        "On a slow link a full-size packet alone delays a voice packet by more than 10 ms";
        why "Strict priority does not interrupt a packet that is being sent. A voice packet that comes when a full-size packet has just begun waits until it is out: on a slow link that is a good part of the delay budget, and all of it is jitter.\n\nNo queueing policy mends that: only smaller packets do.";
        fix "Fragment and interleave (LFI, MLPPP, FRF.12), lower the MTU of the other classes, or use a link above 1.2 Mb/s.";
        from "Cisco, Enterprise QoS Solution Reference Network Design Guide, version 3.3: 10 ms of serialization, links below 768 kb/s";
    NO_BANDWIDTH = "SG-Q009", "subinterface-without-bandwidth", Note,
        "A sub-interface whose policy takes percentages of a rate that nobody stated";
        why "Percentages of an output policy are of the interface's `bandwidth`. A sub-interface without one has the default of its type, the rate of the physical port, however slow the service behind it is. Twenty percent of a gigabit for voice is no limit on a service of 10 Mb/s.";
        fix "Write `bandwidth` on the sub-interface, or shape it in a parent policy: inside the shaper percentages are of the shaped rate.";
        from "Cisco IOS QoS command reference, `bandwidth (interface)`";
    BREAKS_OBJECTIVE = "SG-Q010", "queue-breaks-objective", Warning,
        "A full queue of a class delays its packets more than their objective allows";
        why "At its guaranteed rate a full queue takes longer to drain than the requirement on the delay of its traffic allows. While the class is within its rate the queue is short and nothing shows; in an overload the requirement fails although not a packet is lost.\n\nDropping earlier would keep it: a packet that comes too late is worth no more than one that is lost.";
        fix "Shorten the queue to what the requirement allows at the class's rate, or guarantee the class more.";
        from "RFC 7567; ITU-T Y.1541 for the objectives";
    LIMIT_ABOVE_QUEUE = "SG-Q011", "limit-above-queue-limit", Warning,
        "A queue limit by DSCP or precedence is above the queue limit of its class";
        why "Weighted tail drop refuses packets of a drop precedence once more waits than their own limit allows, so that what is left of the queue is kept for the others. A limit above that of the class never decides: the queue is full first, for everybody. What was to be dropped early is dropped late, and what was to be protected is dropped with it.\n\nSome switches refuse such a line; others take it without a word.";
        fix "Lower the limit of the code point, or raise the queue limit of the class above it.";
        from "Cisco ME 2400 and ME 3400 command references, `queue-limit`: thresholds are at most the limit of the queue";
    LIMIT_ORDER = "SG-Q012", "af-limits-inverted", Warning,
        "Weighted tail drop refuses a lower drop precedence of an AF class earlier than a higher one";
        why "The code points of an assured-forwarding class say what is to be dropped first: precedence 3 before 2 before 1. Where AFx1 has a lower queue limit than AFx2 or AFx3, the traffic inside the contract is refused while the excess is still taken in.\n\nA code point without a limit of its own has that of the queue: a limit for AFx1 alone is the same mistake.";
        fix "Give AFx3 the lowest limit, AFx2 one between, and AFx1 none or the highest.";
        from "RFC 2597, section 2: packets of lower drop precedence must not be dropped with larger probability";
    NOT_UNDERSTOOD = "SG-R001", "line-not-understood", Warning,
        "A line about queueing is not understood";
        why "The line stands where commands of queueing stand, and it is none that is known. A misspelt command does nothing on the router either: it was refused when it was typed or pasted, and what it was to do is not done. Here it has no effect; a `match` that is not known holds for no packet.";
        fix "Correct the line. If the router takes it as it stands, judge what the simulation lacks without it.";
        from "The reader of the configuration: `spillgate import` lists the same lines";
    NO_EFFECT = "SG-R002", "line-without-effect", Note,
        "A line about queueing has no effect, or less than on the router";
        why "The line was understood, and the simulation has no such thing: what stands in for it is in the message. Results differ from the router's as far as the line matters there.";
        fix "Judge whether it matters for what you want to know; where there is an equivalent, the message names it.";
        from "The reader of the configuration: `spillgate import` lists the same lines";
    ABOVE_LINK = "SG-S001", "shaper-above-link", Warning,
        "A shaper's rate is not below the rate of what it shapes for";
        why "A parent policy shapes to the rate of the service behind a faster port, so that packets wait here, where the classes decide who waits. A shaper above the rate of the link never holds a packet: the queue forms in the hardware's first-in first-out buffer and the policy inside has no effect.";
        fix "Shape to slightly less than the rate of the service, layer-2 overhead included, or leave the shaper out.";
        from "Cisco IOS QoS configuration guide, hierarchical policies";
    INTERVAL = "SG-S002", "shaper-interval", Warning,
        "A shaper's burst lasts less than 4 ms or more than 250 ms at its rate";
        why "The bucket of a shaper sets how far the traffic may run ahead of the rate: burst = rate × time. Below 4 ms a slow shaper cannot send a full-size packet in one go and the router's timer does not keep up. Above 250 ms the shaper lets through bursts that a policer at the other end of the contract drops.\n\nFor voice Cisco recommends 10 ms: a longer interval makes a voice packet wait for the next one.";
        fix "Leave the burst to the router, or choose it between 4 ms and 250 ms at the rate, 10 ms where voice passes.";
        from "Cisco IOS QoS configuration guide, traffic shaping: Tc is between 4 ms and 125 ms, two of them (Bc + Be) at most 250 ms";
    BURST_PACKET = "SG-S003", "policer-burst-below-packet", Error,
        "A policer's burst is smaller than a full-size packet";
        why "A packet conforms when the bucket holds as many tokens as it has bytes. A bucket that is smaller than the packet never does: every full-size packet exceeds, at any rate, even on an idle link. Small packets pass, so that pings look fine.";
        fix "Give the policer a burst of several packets at least; the default is 250 ms at the rate.";
        from "RFC 2697, section 2: a burst size above 0 should be at least that of the largest packet";
    BURST_RTT = "SG-S004", "policer-burst-below-rtt", Note,
        "A policer's burst is smaller than what TCP sends in a round trip";
        why "A policer has no queue. TCP sends a window in a burst and then waits a round trip for its acknowledgments; a bucket that does not hold what the rate brings in that time drops the end of every burst, and the connection stays far below the rate that was sold.";
        fix "Give the policer a burst of at least 100 ms at its rate, better several round-trip times; Cisco's formula for committed access rate takes 1.5 s.";
        from "Cisco IOS QoS command reference, `rate-limit`: normal burst = rate × 1 byte / 8 bits × 1.5 s; `police` without a burst takes 250 ms (CIR/32)";
    OUTLASTS = "SG-S005", "tokens-outlast-warm-up", Warning,
        "The tokens that a policer or shaper begins with last longer than the warm-up";
        why "A bucket is full when a run begins. A class that is offered more than its rate uses the bucket up at the difference of the two; until then nothing is dropped, remarked or delayed. If that takes longer than the warm-up, part of what is measured, or all of it, is a state that lasts only once: losses come out lower than they are in the long run, and a longer measurement gives another number.\n\nThe larger the burst and the smaller the excess, the longer it takes: 50 kB at 10 kb/s above the rate last 40 s.";
        fix "Write a `warmup` longer than the tokens last, or measure the first seconds on purpose and say so.";
        from "RFC 2697, section 2: the token buckets are initially full; Tc(0) = CBS";
    SELF = "SG-X001", "useless-suppression", Note,
        "A suppression names a rule that does not exist";
        why "A comment `spillgate: ignore` with an identifier that no rule has suppresses nothing. It is a misspelling, or the rule is gone.";
        fix "Correct the identifier; `spillgate list rules` has all.";
        from "Spillgate";
}

/// The rule of an identifier or a name, upper or lower case.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES
        .iter()
        .find(|r| r.id.eq_ignore_ascii_case(id) || r.name.eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_ordered_and_explained() {
        for pair in RULES.windows(2) {
            assert!(
                pair[0].id < pair[1].id,
                "{} before {}",
                pair[0].id,
                pair[1].id
            );
        }
        for r in RULES {
            assert!(r.explanation.len() > 100 && !r.remedy.is_empty() && !r.source.is_empty());
            assert!(
                !r.summary.ends_with('.')
                    && r.name
                        .chars()
                        .all(|c| c.is_ascii_lowercase() || c == '-' || c.is_ascii_digit())
            );
            assert_eq!(rule(&r.id.to_lowercase()), Some(r));
            assert_eq!(rule(r.name), Some(r));
        }
    }
}
