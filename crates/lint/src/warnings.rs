//! What the readers of configurations, scenarios and captures warn of, explained like rules.

use crate::registry::{Level, Rule};

const fn reader(
    id: &'static str,
    name: &'static str,
    summary: &'static str,
    explanation: &'static str,
    remedy: &'static str,
) -> Rule {
    Rule {
        id,
        name,
        level: Level::Warning,
        summary,
        explanation,
        remedy,
        source: "The reader of the file: what it did not take as written",
    }
}

/// Every warning of a reader, in the order of the codes.
pub const WARNINGS: &[Rule] = &[
    reader(
        "W0401",
        "policy-hardly-meant",
        "A policy may not do what was meant",
        "The policy can be built, and the builder saw something in it that has no effect or another one than its words suggest: a shaper above the rate of its link, a bucket that holds less than a packet, shares that leave a class next to nothing. The message says which.\n\nThe simulation does what is written. Results are those of the policy as it stands, not of the one that was meant.",
        "Change the value that the message names, or keep it and ignore the warning.",
    ),
    reader(
        "W0402",
        "bandwidth-differs-from-link",
        "An interface's `bandwidth` differs from its link's rate",
        "Percentages in a router's policy are of the interface's `bandwidth`, whatever the line carries. Here they are taken of the rate of the link that the interface is mapped to. When the two differ, a class of 30 percent has another rate on the router than in the simulation.\n\nOften the `bandwidth` was set for a routing protocol's metric, or the contract has changed since.",
        "Make both the same: write the contract's rate on the link, or correct `bandwidth`.",
    ),
    reader(
        "W0403",
        "interface-without-policy",
        "An interface is mapped to a link but has no output policy",
        "The scenario takes the link's policy from the interface, and the interface has none: the link gets its default, a first-in first-out queue. In a comparison of configurations that may be meant; more often the interface's name is another one, or the policy is on its sub-interface.",
        "Map the interface that has `service-policy output`, or give the link a `policy` of its own.",
    ),
    reader(
        "W0404",
        "failure-after-end",
        "A failure after the end of the run",
        "The link fails at a time that the run does not reach: nothing happens. Times count from the start of the run, warm-up included.",
        "Let it fail earlier, or measure longer.",
    ),
    reader(
        "W0405",
        "link-faster-than-router",
        "A link adds fewer bytes to a packet than the router counts",
        "The policy of the interface counts the layer-2 header, as the router does, and the link carries less, often the IP packet alone. So the link is faster than the router's line: with small packets the difference is large, 18 bytes are 9 % of a voice packet of 200 bytes. Shapers and policers are right, and the line behind them is idle where the router's is not.",
        "Write the `overhead` that the hint names on the link, or `policy_overhead` if the policy is to count otherwise.",
    ),
    reader(
        "W0406",
        "class-blind-to-labels",
        "A class matches no labelled packet on a link with labels, or EXP bits on a link without",
        "A node sees the top label of an MPLS packet, not the IP header below it. A class that asks for DSCPs, addresses or ports gets no labelled packet, and one that asks for EXP bits gets no packet without a label. What was meant for it waits in class-default.",
        "On links inside the MPLS network match `exp`, elsewhere `dscp`.",
    ),
    reader(
        "W0407",
        "mpls-link-without-labels",
        "An interface with `mpls ip` whose link carries no labels",
        "The configuration runs MPLS on the interface, and in the scenario the link that it is mapped to lies outside the MPLS network: packets have no labels there, are four or eight bytes shorter than on the wire, and classes on EXP bits get none.",
        "List both nodes of the link under `topology.mpls`.",
    ),
    reader(
        "W0408",
        "cos-without-tag",
        "A CoS on a link whose frames carry no 802.1Q tag",
        "The CoS is the priority in the 802.1Q tag of a frame. On a link without `dot1q` frames have no tag: what a policy sets there is lost at the far end, and a class that asks for a CoS of what arrives there gets no packet.\n\nFlows of hosts have no CoS of their own: a policy with `set_cos` on the link from the host, or at its receiving end, gives them one.",
        "Write `dot1q: true` on the link if its frames are tagged, or match the DSCP.",
    ),
    reader(
        "W0409",
        "no-way-in",
        "An interface over which nothing arrives in the topology",
        "A policy acts on packets that arrive by an interface, or asks whether they came in by it. An interface is mapped to the link over which packets leave; those that arrive come over the reverse link of that link, or over the one link that leads the other way between the same nodes. Here there is none, so the policy never acts and the class gets no packet.",
        "Make the link `duplex`, add a link the other way, or map the interface under `interfaces` of the configuration.",
    ),
    reader(
        "W0410",
        "longer-than-mtu",
        "Packets longer than the MTU of a flow-aware link",
        "A cross-protect router gives each flow one MTU of priority, and tells by it which flows stay below their fair rate. PFQ: a flow of longer packets still gets its first one before all others, so that priority packets wait longer for each other than the MTU says, and the exact ring that orders the flows is made larger. PDRR: a packet longer than the quantum never gets priority, so that its flow counts as elastic from its first packet on, and it takes several rounds until the flow has saved enough for one. The shares of the link are right in both.\n\nWhat counts is what a packet occupies: IP packet, labels, and the `overhead` of the link.",
        "Write `mtu` as the longest packet with the overhead of the link, for example 1538 B with `overhead: ethernet`.",
    ),
    reader(
        "W0411",
        "switch-load",
        "A switch that may not do what was meant",
        "Either its traffic matrix is inadmissible: the open-loop sources whose packets come by one input, or go to one output, send more on average over the measured period than the fabric or the link carries, so that queues grow until packets are lost, whatever the matching. Connections are left out, since they adapt.\n\nOr its `congestion_measure` changes nothing, because no AQM at an output judges by the length of its queue or by the rate of arrivals.",
        "Send less through the port that is named, or give it a faster link or `line_rate`; give the links that leave the switch a policy with an AQM such as RED.",
    ),
    reader(
        "W0412",
        "agreement-not-kept",
        "An agreement with a customer that cannot be kept, or that concerns no packet",
        "Either the committed rates of the customers whose packets share a link add to more than the link carries: when all of them send, some get less than they were promised, and which ones is decided by round-trip times, packet sizes and luck.\n\nOr a queue on their way, to which more may come than it is guaranteed, drops packets in profile as it drops those beyond: the customer keeps its rate only as long as nobody else sends too much. Such is WRED with the thresholds of a router, whose drop precedences share one maximum: under a load that does not yield the average stays there, and all of them are dropped.\n\nOr a customer's bucket is smaller than a packet, so that no packet of that length is ever in profile (RFC 2697, RFC 2698: a packet conforms if there are tokens for all of it). Or no flow of the scenario sends packets of a customer to the policy, whose agreement then has no effect.",
        "Commit less, or raise the link's rate; give drop precedences thresholds that do not overlap (`phb: af1` alone, `wred: {defaults: staggered}`, `rio`); write a burst of several packets; compare the columns that say whose packets are meant with the flows and their paths.",
    ),
    reader(
        "W0413",
        "contract-unused",
        "A contract of ATM that has no effect, or that packets cannot keep",
        "The edge of the circuit does not shape cells (`shaped: false`), and the ATM switch at its end does not police them, or there is none. So cells leave one after another at the rate of the line, whatever the contract says.\n\nOr the contract has a minimum rate (`gfr`, or `mdcr` of `ubr`), and no switch on the way has `service: priority`, which gives it, or polices GFR, which tags what is beyond it.\n\nOr frames are longer than the maximum frame size (MFS) of GFR: they do not conform, and a switch that polices loses them.",
        "Leave out `shaped: false`, give the switch `police: tag` or `police: discard`, or leave out the contract; write `service: priority` and `queues: per-vc` at the switch; write the cells of the longest packet as `mfs`.",
    ),
    reader(
        "W0414",
        "line-overbooked",
        "More is guaranteed to circuits of ATM than their line carries",
        "The rates that a network sets aside, the PCR of CBR, the SCR of VBR and the minimum of GFR and UBR, add to more than the rate of a line that leaves an ATM switch. Admission control of a network would refuse the last of these circuits. Here all run: who gets less than was promised is decided by categories, queues and luck.",
        "Promise less, or raise the rate of the line; keep it to see what overbooking does.",
    ),
    reader(
        "W0415",
        "queue-without-limit",
        "A queue has no limit, and traffic fills it",
        "A link without a policy has a first-in first-out queue of 1 GB, which loses nothing. That is harmless where less comes than the link sends. Where more comes, or TCP that has no other limit, the queue grows as long as the run lasts: delays grow with it, TCP sees no loss, and results say nothing of a real network, whose interfaces hold some tens or hundreds of packets.\n\nThe reverse link of a `duplex` link has no policy, even if the link has one.",
        "Give the link a `policy`; write the reverse link of a `duplex` link as a link of its own, with one. A FIFO of 1 GB that is meant is written as a policy.",
    ),
    reader(
        "W0416",
        "own-code-unused",
        "An AQM or scheduler of one's own is given, and no queue has it",
        "A class or library was given beside the scenario (`--aqm`, `--scheduler`, and their like in Python), and no policy of any point names it. It does nothing in this run: perhaps a variant that was to have it is not among those that are run, or its name is spelled otherwise.",
        "Write `aqm: NAME` in the queue that is to have it, or `NAME: {}` as the policy, or do not give it.",
    ),
    reader(
        "W0501",
        "flow-silent",
        "A flow sends nothing in the measured period",
        "The flow stops before the measurement begins, starts after it ends, or its capture is over before. It has no row in the results and every requirement on it stays undecided.",
        "Move the flow's `start` and `stop`, or the measured period; a capture repeats with `loop: true`.",
    ),
    reader(
        "W0502",
        "flow-cut-off",
        "A failure leaves a flow without a path",
        "While the link is down no other way leads to the flow's destination: all of its packets are lost for as long, whatever the queues do. That may be what is studied; if a backup was meant, it is missing or costs are such that no path uses it.",
        "Add the backup link, or repair the link in time.",
    ),
    reader(
        "W0503",
        "one-flow-of-a-group",
        "A single flow from or to a group",
        "The flow names a group of nodes as its end and has no count: it starts at the first member only. The other members have no such traffic.",
        "Write `count` as the number of members for a flow of each, or name the one member.",
    ),
    reader(
        "W0504",
        "mpls-without-traffic",
        "An MPLS network that no flow crosses",
        "Packets get labels where their way leads from one provider edge to another. No flow's does: nothing in the scenario has a label, and all that is said about EXP bits has no effect.",
        "Compare the ends of the flows with the nodes of `mpls.pe`.",
    ),
    reader(
        "W0511",
        "averages-for-traffic",
        "Averages that a router has measured stand for the traffic",
        "`show policy-map interface` gives the rate of each class as an average of minutes. Bursts within them, and the sizes of packets within a class, are not in it: the sources that are made of it are as bursty as the chosen model says, not as the traffic was.\n\nMeans of load and loss in a steady overload are sound; tails of delay depend on the assumption.",
        "For tails measure with a capture (`spillgate profile`), or vary the burstiness and look at what changes.",
    ),
    reader(
        "W0512",
        "code-point-assumed",
        "A measured class whose packets may have other code points",
        "The class matches more than one DSCP, or something other than the DSCP, and the output does not say which of them its packets had. One is assumed, so that a policy that tells them apart sees them all as that one.",
        "Write the `dscp` of the class in the scenario if you know it.",
    ),
    reader(
        "W0521",
        "capture-not-as-on-the-wire",
        "Something in a capture is not as it was on the wire",
        "Packets were cut off at capture, are no IP, come from several interfaces or go back in time, or the file ends inside a packet. The message counts them. What could be used is replayed; the rest is left out, so that the offered load is below what the line carried.",
        "Capture again without a limit on the length, on one interface; or accept the count.",
    ),
    reader(
        "W0601",
        "no-warm-up",
        "The measurement begins with empty queues",
        "Without a warm-up the first packets meet an idle network. Their short delays are in every mean and percentile, and connections are in slow start. How much that distorts depends on how long the measured period is.",
        "Write `warmup: 5 s`, or several times the longest round-trip time.",
    ),
    reader(
        "W0602",
        "one-run",
        "Too few runs for a confidence interval",
        "An interval comes from the differences between independent runs. One run has none: a mean can be shown, but how far it would move with another seed is unknown, and no requirement can be decided.",
        "Use at least two runs; ten make the interval about a third as wide again.",
    ),
    reader(
        "W0603",
        "speech-not-rated",
        "Speech whose codec has no planning values",
        "The E-model needs the equipment impairment and the packet-loss robustness of the codec (ITU-T G.113). There are none for this one, so that its flows have no R and no MOS; delay and loss are measured as always.",
        "Write `voice: {ie: .., bpl: ..}` in the flow if you know them, or choose a codec that has them.",
    ),
    reader(
        "W0604",
        "points-not-as-asked",
        "A study whose points are not quite what was asked for",
        "Several points of the design have the same values, so that fewer points are run than were asked for; or the points of a Sobol sequence are no power of two, so that they do not fill the space evenly.",
        "Take a power of two of Sobol points, ranges that are wide enough for so many values, or another design.",
    ),
    reader(
        "W0701",
        "not-utf-8",
        "The file is not UTF-8 text",
        "A byte of the file is no UTF-8. All of it is taken as Latin-1, in which every byte is a character. Commands are not affected; names and descriptions may show other letters than were meant.",
        "Save the file as UTF-8.",
    ),
    reader(
        "W0702",
        "class-matches-nothing",
        "A class matches no packet",
        "The class-map has no `match`, its criteria exclude each other, all of them are such as the simulation does not model, or its access list permits nothing. The class exists and gets no packet; what was meant for it is in a later class.\n\nOn a router a criterion that is not modelled here may match: then the simulation differs from it.",
        "Look at the lines that `spillgate import` lists as not modelled; replace such a criterion by DSCPs, addresses or ports.",
    ),
    reader(
        "W0703",
        "class-matches-otherwise",
        "A class may match other packets than on the router",
        "Some criteria of the class-map are modelled and some are not. Those that are not hold for no packet, or, where they are negated, are left out: a `match-any` class gets less than on the router, a negated criterion lets through more.",
        "Look at the lines that `spillgate import` lists as not modelled, and judge whether the traffic of the scenario has such packets.",
    ),
    reader(
        "W0704",
        "no-policy-map",
        "The configuration has no policy-map",
        "The file was read and has no queueing by classes: nothing can be taken from it but what interfaces say themselves.",
        "Check that it is the running-config of the right router, and that it is complete.",
    ),
    reader(
        "W0705",
        "class-renamed",
        "A class has another name in results",
        "In results `/` separates a class from the classes of the policy inside it. A class with `/` in its name would be taken for nested, so that it is shown with another character.",
        "Rename the class-map, or use the name of the results.",
    ),
    reader(
        "W0706",
        "interface-without-bandwidth",
        "Percentages on an interface without a `bandwidth`",
        "What the percentages of the policy are of is not said: the interface has no `bandwidth` and its type has no default rate that is known. The rate of the link is taken in a simulation; without one the policy has no rates.",
        "Write `bandwidth` and kbit/s on the interface.",
    ),
    reader(
        "W0707",
        "reserved-above-cap",
        "Classes reserve more than there is",
        "`bandwidth` and `priority` together are above what the platform lets a policy reserve: the router refuses the policy when it is attached, and the interface has none. The rule SG-Q002 says the same of a configuration that is checked.",
        "Lower the classes, or raise `max-reserved-bandwidth` where it has an effect.",
    ),
    reader(
        "W0708",
        "name-not-defined",
        "Something that is named is not defined",
        "A class-map, policy-map, access list or object group is named and nowhere defined: a reference is stale, misspelt, or the configuration is not complete. The message says what stands in for it. A class without class-map and a `service-policy` without policy-map are left out, as the router refuses them; a criterion on an undefined class-map matches nothing; an undefined access list permits every packet, as Cisco says of one that is applied to an interface (Security Configuration Guide, IP Access List Overview; that it holds in class-maps is concluded from that); an entry of an access list that names an undefined object group is left out.",
        "Correct the name, or define what it names. With `--strict`, `spillgate import` and `spillgate run` refuse the configuration.",
    ),
    reader(
        "W0709",
        "line-left-out",
        "A line is wrong and left out",
        "An argument of a command is missing, unknown or out of range. A router refuses such a line when it is entered and goes on to the next; the configuration is read as if the line were not there. So is a line that contradicts an earlier one: `priority` beside `bandwidth`, percentages above 100, a second policy of an interface, a policy-map inside itself. Whatever it was meant to do is not done: a class may lack its guarantee, or a class-map a criterion.",
        "Correct the line. With `--strict`, `spillgate import` and `spillgate run` refuse the configuration.",
    ),
    reader(
        "W0710",
        "line-broken-by-terminal",
        "A line was broken by a terminal",
        "A line begins at the left margin with no command, and the one before it is long: it is taken as the end of that one, as when a configuration is copied from a terminal that is narrower than its lines. Lines of 80 or 132 characters, or as long as the longest, are put together as they are, others with a blank.",
        "Look at the line; copy the configuration without line breaks (`terminal width 0`).",
    ),
    reader(
        "W0711",
        "other-platform",
        "A configuration of IOS XR is read as another platform's",
        "The file ends its blocks with `end-policy-map`, has `ipv4 access-list`, or names interfaces by rack, slot, module and port, as only IOS XR does, and is read with another platform's meaning: queue limits, what percentages are of, and which commands a class takes together differ.",
        "Name the platform: `platform: ios-xr` in a scenario, `--platform ios-xr` on the command line.",
    ),
    reader(
        "W0731",
        "output-cut-off",
        "A class in the output of a router shows no offered rate",
        "The line with the offered rate is missing after the class's name, most often because the terminal cut the output off. The class is left out of a simulation: the load is below what the router saw.",
        "Repeat the command with `terminal length 0`.",
    ),
];

/// The warning of a code or a name, upper or lower case.
pub fn warning(id: &str) -> Option<&'static Rule> {
    WARNINGS
        .iter()
        .find(|r| r.id.eq_ignore_ascii_case(id) || r.name.eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod tests {
    use spillgate_import::{IOS_CODES, SHOW_CODES};
    use spillgate_scenario::codes::CODES;

    use super::*;
    use crate::registry::RULES;

    #[test]
    fn every_warning_of_a_reader_is_explained_and_no_other() {
        let all = [CODES, IOS_CODES, SHOW_CODES].concat();
        let mut readers: Vec<&str> = all.iter().map(|(code, _)| *code).collect();
        readers.retain(|code| code.starts_with('W'));
        let explained: Vec<&str> = WARNINGS.iter().map(|w| w.id).collect();
        assert_eq!(explained, readers);
        for w in WARNINGS {
            assert!(w.explanation.len() > 80 && !w.remedy.is_empty(), "{}", w.id);
            assert_eq!(warning(w.name).map(|w| w.id), Some(w.id));
        }
    }

    /// OVER_CAP takes the place of W0707 where rules are asked, under the same name.
    #[test]
    fn names_are_those_of_one_thing() {
        let names = RULES.iter().copied().chain(WARNINGS).map(|r| r.name);
        let mut names: Vec<_> = names.filter(|n| *n != "reserved-above-cap").collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
