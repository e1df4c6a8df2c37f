//! Checks of circuits and switches as a whole: lines that circuits share, links at switches, and
//! contracts that have no effect or promise too much.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::{Rate, aal5::CELL};

use super::plan::{AtmLinePlan, AtmLink, AtmPlan, AtmSwitchPlan};
use super::{At, AtmSpec, CellPolice, Contract, Entry, Flow, Report, VcSpec, Written};
use spillgate_core::{Mistake, Problem};

/// A circuit of a line.
struct Sharing<'a> {
    id: u32,
    entry: &'a Entry<'a>,
    atm: &'a AtmSpec,
}

/// The rates together, if that is more than `rate`, and how many there are.
fn beyond(rate: Rate, all: &[Rate]) -> Option<(Rate, usize)> {
    let sum = all.iter().fold(0_u64, |sum, r| sum.saturating_add(r.bps()));
    let sum = Rate::from_bps(sum).filter(|sum| *sum > rate)?;
    Some((sum, all.len()))
}

impl AtmPlan {
    /// The network of these switches and of the lines that circuits share; none if there are
    /// neither. Problems are reported.
    pub fn of(
        written: &Written<'_>,
        switches: Vec<AtmSwitchPlan>,
        report: &mut dyn Report,
    ) -> Option<Self> {
        let mut check = Check {
            all: written,
            of: switches.iter().map(|s| (s.node, s)).collect(),
            report,
        };
        check.switches();
        let lines = check.lines();
        check.packets();
        check.contracts();
        let some = !switches.is_empty() || !lines.is_empty();
        some.then(|| Self::join(switches, lines, &written.links, written.routes))
    }
}

/// What is checked.
struct Check<'a, 'r> {
    all: &'a Written<'a>,
    /// The switches, by node.
    of: BTreeMap<u32, &'r AtmSwitchPlan>,
    report: &'r mut dyn Report,
}

impl<'a> Check<'a, '_> {
    fn refuse(&mut self, at: At<'_>, path: &str, message: impl Into<String>, hint: &str) {
        self.report
            .refuse(at, Problem::new(path, "", message, hint));
    }

    fn warn(&mut self, entry: &Entry<'_>, path: &str, message: impl Into<String>, hint: &str) {
        let problem = Problem::new(path, "", message, hint);
        self.report.warn(At::Link(entry.name), problem);
    }

    fn link(&self, id: u32) -> &'a AtmLink<'a> {
        &self.all.links[id as usize]
    }

    fn contract(&self, id: u32) -> Option<&'a Contract> {
        Some(&self.link(id).circuit()?.contract)
    }

    /// The switch that a link leaves.
    fn switch(&self, link: u32) -> Option<&AtmSwitchPlan> {
        self.of.get(&self.link(link).from).copied()
    }

    /// What may not stand beside switches.
    fn switches(&mut self) {
        let Some(first) = self.of.keys().next().copied() else {
            return;
        };
        if !self.all.failures.is_empty() {
            let message = "links fail in a topology with ATM switches";
            let hint = "leave out `failures` or `atm_switch`: circuits are not set up anew";
            self.refuse(At::Topology, "failures", message, hint);
        }
        if self.all.has_labels {
            let message = "a topology with MPLS and with ATM switches";
            let hint = "leave out `mpls` or `atm_switch`";
            self.refuse(At::Switch(first), "", message, hint);
        }
        for entry in &self.all.entries {
            self.at_switch(entry);
        }
        let nodes: Vec<u32> = self.of.keys().copied().collect();
        for node in nodes {
            let Some(flow) = self.all.flows.iter().find(|f| f.ends.contains(&node)) else {
                continue;
            };
            let verb = if flow.ends[0] == node {
                "begins"
            } else {
                "ends"
            };
            let message = format!(
                "flow `{}` {verb} at an ATM switch, which has cells only",
                flow.name
            );
            let hint = "let it begin and end at nodes beside the switches";
            self.refuse(At::Switch(node), "", message, hint);
        }
    }

    /// A link at a switch: what comes there are cells, and what leaves it are the cells of all
    /// circuits.
    fn at_switch(&mut self, entry: &Entry<'_>) {
        // The links of a group are alike.
        let ways = entry.ids.iter().take(if entry.duplex { 2 } else { 1 });
        let ends: Vec<(&AtmLink<'_>, bool, bool)> = ways
            .map(|id| self.link(*id))
            .map(|l| {
                (
                    l,
                    self.of.contains_key(&l.from),
                    self.of.contains_key(&l.to),
                )
            })
            .collect();
        if ends.iter().all(|(_, from, to)| !from && !to) {
            return;
        }
        let (name, at) = (entry.name, At::Link(entry.name));
        let has = |key: &str| entry.keys.contains(&key);
        let enters = ends.iter().any(|(_, from, to)| *to && !from);
        if enters && entry.atm.is_none() {
            let message = format!("packets come over `{name}` to an ATM switch, which takes cells");
            let hint = "make the link a circuit, such as with `atm: {}`";
            self.refuse(at, "", message, hint);
        }
        if !enters && entry.atm.is_some() {
            let message = "the cells of all circuits share a line that leaves an ATM switch";
            let hint = "write `atm` on the links over which packets enter the switches";
            self.refuse(at, "atm", message, hint);
        }
        for key in ["loss", "reorder", "rate_process"] {
            if has(key) {
                let message = format!("`{key}` on a link of an ATM switch is not modelled");
                self.refuse(at, key, message, "leave it out");
            }
        }
        if has("input_policy") && ends.iter().any(|(_, _, to)| *to) {
            let message = "an ATM switch sees cells, not packets";
            let hint = "police cells with `police` of the switch";
            self.refuse(at, "input_policy", message, hint);
        }
        // A way back has none.
        if has("tx_ring") && ends[0].1 {
            let message =
                format!("`{name}` leaves an ATM switch, which has queues of cells and no ring");
            self.refuse(at, "tx_ring", message, "leave it out");
        }
        if let Some((link, ..)) = ends.iter().find(|(l, from, _)| *from && l.has_policy) {
            let message = format!(
                "`{}` leaves an ATM switch, where cells wait in the queues of the switch",
                link.name
            );
            let hint = "leave out the policy; see `buffer`, `queues` and `discard` of the switch";
            self.refuse(at, "policy", message, hint);
        }
    }

    /// The lines that circuits share, by node and name.
    fn lines(&mut self) -> Vec<AtmLinePlan> {
        let mut lines: BTreeMap<(u32, &str), Vec<Sharing<'_>>> = BTreeMap::new();
        for entry in &self.all.entries {
            let Some(atm) = entry.atm else { continue };
            self.identifier(entry, atm);
            let Some(name) = atm.line.as_deref() else {
                continue;
            };
            for id in entry.ids.iter().copied() {
                // What leaves an ATM switch is its own line.
                if self.switch(id).is_none() {
                    let circuit = Sharing { id, entry, atm };
                    let from = self.link(id).from;
                    lines.entry((from, name)).or_default().push(circuit);
                }
            }
        }
        for (i, (link, entry)) in self.all.failures.iter().enumerate() {
            let entry = self.all.entries.iter().find(|e| Some(e.name) == *entry);
            if let Some(line) = entry.and_then(|e| e.atm?.line.as_deref()) {
                let message = format!("`{link}` fails, a circuit of the line `{line}`");
                let hint = "leave out `line`, or let another link fail: circuits of a line cannot";
                self.refuse(At::Topology, &format!("failures[{i}].link"), message, hint);
            }
        }
        let mut all = Vec::new();
        for ((node, name), mut circuits) in lines {
            circuits.sort_by_key(|c| c.id);
            let name = format!("{}/{name}", self.all.nodes[node as usize]);
            self.line(&name, &circuits);
            all.push(AtmLinePlan {
                name,
                node,
                circuits: circuits.iter().map(|c| c.id).collect(),
            });
        }
        all
    }

    fn identifier(&mut self, entry: &Entry<'_>, atm: &AtmSpec) {
        let Some(vc) = atm.vc else { return };
        let at = At::Link(entry.name);
        if (vc.vpi, vc.vci) == (0, 0) {
            let message = "0/0 is no circuit: it marks cells without content (ITU-T I.361)";
            let hint = "write a VCI from 32, such as 0/32";
            self.report
                .refuse(at, Problem::new("atm.vc", vc, message, hint));
        } else if vc.vci < VcSpec::FIRST_FOR_USERS {
            let message = "VCI 0 to 31 are reserved for signalling and management (ITU-T I.361)";
            let hint = "write a VCI from 32, unless such a channel is meant";
            self.report
                .warn(at, Problem::new("atm.vc", vc, message, hint));
        }
    }

    /// Reports circuits of a line that do not fit together, once for each link as written.
    fn line(&mut self, line: &str, circuits: &[Sharing<'_>]) {
        let mut known: BTreeMap<VcSpec, &Sharing<'_>> = BTreeMap::new();
        let mut seen = "";
        for circuit in circuits {
            let entry = circuit.entry;
            if let Some((vc, other)) = circuit.atm.vc.and_then(|vc| Some((vc, *known.get(&vc)?))) {
                let [one, two] = [other.id, circuit.id].map(|id| self.link(id).name);
                let message = format!("`{one}` and `{two}` are both {vc} of `{line}`");
                let hint = match other.entry.name == entry.name {
                    true => "leave out `vc`: the links of a group have the same",
                    false => "give each circuit of a line a VPI/VCI of its own",
                };
                let problem = Problem::new("atm.vc", vc, message, hint);
                self.report.refuse(At::Link(entry.name), problem);
            } else if let Some(vc) = circuit.atm.vc {
                known.insert(vc, circuit);
            }
            if std::mem::replace(&mut seen, entry.name) == entry.name {
                continue;
            }
            let rate = |c: &Sharing<'_>| self.link(c.id).rate.to_string();
            let phase = |c: &Sharing<'_>| c.atm.phase.word().to_owned();
            let differs = [
                ("rate", unusual(circuit, circuits, rate)),
                ("atm.phase", unusual(circuit, circuits, phase)),
            ];
            for (key, found) in differs {
                let Some((found, wanted, others)) = found else {
                    continue;
                };
                let message = format!(
                    "the circuits of `{line}` share one line, and it has {wanted} at {}",
                    self.report.list(&others)
                );
                let hint = format!("write {wanted}, or another `line`");
                let problem = Problem::new(key, found, message, hint);
                self.report.refuse(At::Link(entry.name), problem);
            }
        }
        self.promises_of_line(line, circuits);
        self.parallels(circuits);
    }

    /// Warns if more is guaranteed to circuits than their line has.
    fn promises_of_line(&mut self, line: &str, circuits: &[Sharing<'_>]) {
        let guaranteed = |c: &&Sharing<'_>| self.contract(c.id)?.guaranteed();
        let all: Vec<Rate> = circuits.iter().filter_map(|c| guaranteed(&c)).collect();
        let rate = self.link(circuits[0].id).rate;
        let last = circuits.iter().rfind(|c| guaranteed(c).is_some());
        if let Some((last, (sum, circuits))) = last.zip(beyond(rate, &all)) {
            let message = format!(
                "{circuits} circuits over `{line}` are guaranteed {sum} together, and the line carries {rate}"
            );
            let hint = "lower PCR of CBR, SCR of VBR or the minimum rates, or raise `rate`";
            let problem = Problem::new("atm.contract", "", message, hint).of(Mistake::Promised);
            self.report.warn(At::Link(last.entry.name), problem);
        }
    }

    /// Warns of circuits between the same nodes, of which routing uses one.
    fn parallels(&mut self, circuits: &[Sharing<'_>]) {
        let mut known: BTreeMap<(u32, Option<&str>), u32> = BTreeMap::new();
        for circuit in circuits {
            let to = (self.link(circuit.id).to, circuit.atm.far_end.as_deref());
            let Some(other) = known.insert(to, circuit.id) else {
                continue;
            };
            let [other, own] = [other, circuit.id].map(|id| self.link(id).name);
            let message = format!(
                "`{other}` and `{own}` lead to the same node: packets take one of them, by its cost"
            );
            let hint = "let circuits of a line end at nodes of their own, or give them a `far_end` behind ATM switches";
            self.warn(circuit.entry, "", message, hint);
        }
    }

    /// The flows with packets over an entry that are too long.
    fn too_long(&self, entry: &Entry<'_>, is: impl Fn(u16) -> bool) -> Option<String> {
        let routes = self.all.routes;
        let crosses = |route: u32| routes[route as usize].iter().any(|l| entry.ids.contains(l));
        let too_long = |f: &&Flow<'_>| {
            let mut ways = f.ways.iter();
            ways.any(|(route, len)| is(*len) && route.is_some_and(crosses))
        };
        let names: Vec<&str> = self
            .all
            .flows
            .iter()
            .filter(too_long)
            .map(|f| f.name)
            .collect();
        (!names.is_empty()).then(|| self.report.list(&names))
    }

    /// Packets that no frame can carry, or that are longer than the maximum of GFR.
    fn packets(&mut self) {
        for entry in &self.all.entries {
            let Some(atm) = entry.atm else { continue };
            let most = atm.longest(entry.overhead);
            if let Some(names) = self.too_long(entry, |len| u32::from(len) > most) {
                let message = format!(
                    "packets are longer than the {most} B that a frame of AAL5 can carry here: {names}"
                );
                let hint = "send shorter packets; with `encapsulation: vc-mux` up to 65535 B";
                self.refuse(At::Link(entry.name), "atm", message, hint);
            }
            let contract = self.contract(entry.ids[0]);
            let Some((_, mfs)) = contract.and_then(Contract::frames) else {
                continue;
            };
            let counted = atm.counted(entry.overhead);
            if let Some(names) = self.too_long(entry, |len| counted.wire_len(len) / CELL > mfs) {
                let message = format!(
                    "frames are longer than {mfs} cells, the maximum of the contract, and do not conform: {names}"
                );
                let hint = "write a larger `mfs`, or send shorter packets";
                self.warn(entry, "atm.contract.gfr.mfs", message, hint);
            }
        }
    }

    /// For each circuit, by its link: the links after switches that its cells take.
    fn ways(&self) -> BTreeMap<u32, BTreeSet<u32>> {
        let mut over: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for route in self.all.routes {
            let mut circuit = None;
            for link in route {
                // The reverse direction of a circuit has its contract too, and is a line of the
                // switch.
                if self.switch(*link).is_none() {
                    circuit = self.contract(*link).map(|_| *link);
                } else if let Some(circuit) = circuit {
                    over.entry(circuit).or_default().insert(*link);
                }
            }
        }
        over
    }

    /// Warns of contracts and minimum rates without effect, and of lines whose circuits are
    /// guaranteed more than the line carries.
    fn contracts(&mut self) {
        let ways = self.ways();
        for entry in &self.all.entries {
            let contract = self.contract(entry.ids[0]);
            let (Some(atm), Some(contract)) = (entry.atm, contract) else {
                continue;
            };
            let ends = || {
                entry
                    .ids
                    .iter()
                    .filter_map(|id| self.of.get(&self.link(*id).to))
            };
            let polices = ends().any(|s| s.spec.police != CellPolice::None);
            let over = entry.ids.iter().filter_map(|id| ways.get(id)).flatten();
            let mut switches = over.filter_map(|line| self.switch(*line));
            let serves = atm.line.is_some() || switches.any(|s| s.recipe.goes_by_category());
            if !atm.shaped && atm.contract != Default::default() && !polices && !serves {
                let message =
                    "the circuit is not shaped, and nobody polices it: its contract has no effect";
                let hint =
                    "leave out `shaped: false`, or let it end at an ATM switch with `police`";
                self.warn(entry, "atm.contract", message, hint);
            } else if contract.minimum_rate().is_some()
                && !serves
                && !(polices && contract.frames().is_some())
            {
                let message = "no line on the way of the circuit gives it its minimum rate, which has no effect";
                let hint = "write `service: priority` at a switch with `queues: per-vc`, `line` for one that circuits share, or leave the minimum out";
                self.warn(entry, "atm.contract", message, hint);
            }
        }
        let mut promised: BTreeMap<u32, Vec<Rate>> = BTreeMap::new();
        for (circuit, over) in &ways {
            let rate = self.contract(*circuit).and_then(Contract::guaranteed);
            for (line, rate) in over.iter().zip(std::iter::repeat(rate)) {
                promised.entry(*line).or_default().extend(rate);
            }
        }
        let mut said = BTreeSet::new();
        for (line, rates) in promised {
            let AtmLink { name, rate, .. } = *self.link(line);
            let entry = self.all.entries.iter().find(|e| e.ids.contains(&line));
            let Some(((sum, circuits), entry)) = beyond(rate, &rates).zip(entry) else {
                continue;
            };
            // The first of several equal links stands for all.
            if !said.insert(entry.name) {
                continue;
            }
            let message = format!(
                "{circuits} circuits over `{name}` are guaranteed {sum} together, and the line carries {rate}"
            );
            let hint = "a network would not admit them all; lower PCR of CBR, SCR of VBR or the minimum rates, or raise `rate`";
            let problem = Problem::new("rate", "", message, hint).of(Mistake::Promised);
            self.report.warn(At::Link(entry.name), problem);
        }
    }
}

/// What a circuit says of its line, what most others say, and which do, if that is not the same.
/// Of several that are said equally often the first counts.
fn unusual<'a>(
    circuit: &Sharing<'_>,
    circuits: &'a [Sharing<'a>],
    of: impl Fn(&Sharing<'_>) -> String,
) -> Option<(String, String, Vec<&'a str>)> {
    let all: Vec<String> = circuits.iter().map(&of).collect();
    let count = |wanted: &String| all.iter().filter(|a| *a == wanted).count();
    let wanted = all.iter().rev().max_by_key(|a| count(a))?;
    let found = of(circuit);
    if found == *wanted {
        return None;
    }
    let say_so = circuits
        .iter()
        .zip(&all)
        .filter(|(_, said)| *said == wanted);
    let mut names: Vec<&str> = say_so.map(|(c, _)| c.entry.name).collect();
    names.dedup();
    Some((found, wanted.clone(), names))
}
