//! Flows with their names, addresses and classes.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use spillgate_core::{FlowKey, Time};
use spillgate_queueing::spec::{NetSpec, Protocol};

use super::bad_name;
use super::captures::Replayed;
use super::ends::{self, Ends};
use super::nodes::Nodes;
use super::paths::Paths;
use super::period::Times;
use super::rows::Row;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::plan::{FlowPlan, Lifetime, Traffic};
use crate::schema::FlowSpec;

/// The most flows of one variant.
pub(super) const MAX_FLOWS: u64 = 1_000_000;
/// The most classes: their ids have 16 bits.
pub(super) const MAX_CLASSES: usize = 65_535;
/// Ephemeral ports (RFC 6335 §6): the first, and how many.
const EPHEMERAL: (u32, u32) = (49_152, 16_384);
/// The destination port of a flow that names none.
const DPORT: u16 = 5001;
/// Protocols whose headers begin with two ports: TCP, UDP, DCCP, SCTP, UDP-Lite.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

pub(super) const TCP: Protocol = Protocol(6);
const UDP: Protocol = Protocol(17);

/// Flows and the classes that they name.
pub(super) struct Lowered {
    pub(super) flows: Vec<FlowPlan>,
    pub(super) classes: Vec<String>,
}

pub(super) fn too_many_flows(flows: u64) -> Diagnostic {
    let message = format!("the traffic has {flows} flows");
    Diagnostic::error(codes::TOO_MANY_FLOWS, message)
        .hint(format!("a scenario has at most {MAX_FLOWS} flows"))
}

pub(super) fn too_many_classes() -> Diagnostic {
    let message = format!("more than {MAX_CLASSES} classes of service");
    Diagnostic::error(codes::TOO_MANY_FLOWS, message)
        .hint("give flows that belong together the same `class`")
}

/// All flows in the order of the traffic; none after an error.
pub(super) fn lower(
    ctx: &mut Ctx<'_>,
    root: &Node,
    rows: &[Row],
    ends: &[Option<Ends>],
    paths: &mut Paths,
    nodes: &Nodes<'_>,
    times: &Times,
) -> Option<Lowered> {
    check_names(ctx, root, rows);
    let total: u64 = rows.iter().map(|r| u64::from(r.spec.count)).sum();
    if total > MAX_FLOWS {
        ctx.error(too_many_flows(total), root, &steps!["traffic"]);
        return None;
    }
    let mut out = Lowered {
        flows: Vec::with_capacity(usize::try_from(total).unwrap_or(0)),
        classes: Vec::new(),
    };
    let mut class_ids: BTreeMap<&str, u16> = BTreeMap::new();
    let mut fine = true;
    for (row, ends) in rows.iter().zip(ends) {
        let spec = &row.spec;
        let mut checker = Checker {
            ctx,
            root,
            row,
            fine: true,
        };
        checker.check(times);
        let traffic = super::traffic::traffic(&mut checker);
        let template = ends
            .as_ref()
            .and_then(|e| checker.template(e, traffic, paths, nodes));
        let own = [spec.class.as_deref().unwrap_or(&spec.name)];
        let groups = row.capture.as_deref().map(Replayed::groups);
        let names: Vec<&str> = match groups {
            Some(groups) => groups.iter().map(|g| &*g.class).collect(),
            None => own.to_vec(),
        };
        for name in &names {
            if class_ids.contains_key(name) {
                continue;
            }
            if out.classes.len() >= MAX_CLASSES {
                checker.error(too_many_classes(), &steps!["class"]);
                return None;
            }
            class_ids.insert(name, out.classes.len() as u16);
            out.classes.push((*name).to_owned());
        }
        let (Some(template), true) = (template, checker.fine) else {
            fine = false;
            continue;
        };
        let first = out.flows.len();
        expand(&mut out.flows, spec, &template, class_ids[names[0]], paths)?;
        for (flow, group) in out.flows[first..]
            .iter_mut()
            .zip(groups.unwrap_or_default())
        {
            flow.name = group.name.as_str().into();
            flow.class = class_ids[&*group.class];
            (flow.key, flow.dscp) = (group.key, group.dscp);
        }
    }
    fine.then_some(out)
}

/// What the flows of a row have in common.
struct Template<'a> {
    ends: &'a Ends,
    /// The source address of the first flow; none for the default.
    src: Option<u32>,
    /// None for the default.
    dst: Option<Ipv4Addr>,
    protocol: u8,
    has_ports: bool,
    traffic: Traffic,
}

/// The default address of a node: 10.255.0.0 plus its number, from 65536 on in the blocks below.
fn address(node: u32) -> Ipv4Addr {
    let [_, block, hi, lo] = node.to_be_bytes();
    Ipv4Addr::new(10, 255 - block, hi, lo)
}

/// Makes the flows of a row. Their paths are known to exist.
fn expand(
    flows: &mut Vec<FlowPlan>,
    spec: &FlowSpec,
    t: &Template<'_>,
    class: u16,
    paths: &mut Paths,
) -> Option<()> {
    let lifetime = Arc::new(Lifetime {
        start: Time::ZERO + spec.start,
        start_spread: spec.start_spread,
        start_gap: spec.start_gap,
        stop: spec.stop.map_or(Time::MAX, |s| Time::ZERO + s),
    });
    for i in 0..spec.count {
        let (from, to) = t.ends.of(i);
        // Below MAX_FLOWS, so it fits 10.0.0.0/12.
        let number = flows.len() as u32;
        let src = match t.src {
            Some(first) => first + i,
            None => (10 << 24) + 1 + number,
        };
        let port = |chosen: Option<u16>, default: u16| {
            if t.has_ports {
                chosen.unwrap_or(default)
            } else {
                0
            }
        };
        flows.push(FlowPlan {
            name: match spec.count {
                1 => spec.name.as_str().into(),
                _ => format!("{}-{i}", spec.name).into(),
            },
            class,
            from,
            to,
            route: paths.between(from, to)?,
            back: match t.traffic.is_closed_loop() {
                true => Some(paths.between(to, from)?),
                false => None,
            },
            key: FlowKey {
                src: Ipv4Addr::from(src).into(),
                dst: t.dst.unwrap_or_else(|| address(to)).into(),
                protocol: t.protocol,
                sport: port(spec.sport, (EPHEMERAL.0 + number % EPHEMERAL.1) as u16),
                dport: port(spec.dport, DPORT),
            },
            dscp: spec.dscp,
            ecn: spec.ecn,
            lifetime: lifetime.clone(),
            follows: t.ends.source(i) > 0 && !spec.start_gap.is_zero(),
            traffic: t.traffic.clone(),
            split: t.ends.split(i),
            voice: None,
        });
    }
    Some(())
}

/// The checks of one row.
pub(super) struct Checker<'a, 'c> {
    ctx: &'a mut Ctx<'c>,
    root: &'a Node,
    pub(super) row: &'a Row,
    fine: bool,
}

impl Checker<'_, '_> {
    pub(super) fn error(&mut self, d: Diagnostic, path: &[Step]) {
        self.row.error(self.ctx, self.root, d, path);
        self.fine = false;
    }

    /// The checks that need no topology.
    fn check(&mut self, times: &Times) {
        let spec = &self.row.spec;
        if !(1..=1_000_000).contains(&spec.count) {
            let d = Diagnostic::error(codes::OUT_OF_RANGE, format!("a count of {}", spec.count))
                .hint("write a whole number from 1 to 1000000");
            self.error(d, &steps!["count"]);
        }
        if spec.class.as_ref().is_some_and(|c| c.trim().is_empty()) {
            let d = Diagnostic::error(codes::BAD_NAME, "the name of this class is empty")
                .hint("leave `class` out to report the flow under its own name");
            self.error(d, &steps!["class"]);
        }
        if let Some(stop) = spec.stop.filter(|s| *s <= spec.start) {
            let d = Diagnostic::error(
                codes::BAD_TIMES,
                format!("the flow stops at {stop}, it starts at {}", spec.start),
            )
            .hint("`stop` is counted from the beginning of the run, like `start`");
            self.error(d, &steps!["stop"]);
        } else if spec.start >= times.end()
            // A transfer that began before the stop may go on.
            || (spec.tcp.is_none() && spec.stop.is_some_and(|s| s <= times.warmup))
        {
            let key = if spec.start >= times.end() {
                "start"
            } else {
                "stop"
            };
            let d = Diagnostic::warning(
                codes::W_NEVER,
                format!(
                    "flow `{}` sends nothing in the measured period, {} to {}",
                    spec.name,
                    times.warmup,
                    times.end()
                ),
            );
            self.row.warn(self.ctx, self.root, d, &steps![key]);
        }
        if !spec.start_gap.is_zero() && !spec.start_spread.is_zero() {
            let d = Diagnostic::error(
                codes::BAD_TIMES,
                format!(
                    "both `start_gap` ({}) and `start_spread` ({}) say when the flows start",
                    spec.start_gap, spec.start_spread
                ),
            )
            .hint("leave one of them out");
            self.error(d, &steps!["start_gap"]);
        }
        if let Some(last) = self.row.capture.as_ref().and_then(|c| c.ends()) {
            let last = spec.start + spec.start_spread + last;
            if last < times.warmup {
                let d = Diagnostic::warning(
                    codes::W_NEVER,
                    format!(
                        "the last packet of capture `{}` is sent at {last}, before the measured period begins at {}",
                        spec.name, times.warmup
                    ),
                )
                .hint("write `measurement: {warmup: 0 s}`, or `loop: true`");
                self.row.warn(self.ctx, self.root, d, &steps!["file"]);
            }
        }
        let protocol = spec.protocol.unwrap_or(UDP);
        if spec.tcp.is_none() && !WITH_PORTS.contains(&protocol.0) {
            for (key, port) in [("sport", spec.sport), ("dport", spec.dport)] {
                if port.is_some() {
                    let d = Diagnostic::error(
                        codes::BAD_PORT,
                        format!("protocol {protocol} has no ports"),
                    )
                    .hint("remove the port, or choose tcp, udp or sctp");
                    self.error(d, &steps![key]);
                }
            }
        }
    }

    /// What the flows have in common; none after an error.
    fn template<'e>(
        &mut self,
        ends: &'e Ends,
        traffic: Option<Traffic>,
        paths: &mut Paths,
        nodes: &Nodes<'_>,
    ) -> Option<Template<'e>> {
        let spec = &self.row.spec;
        let answered = traffic.as_ref().is_some_and(Traffic::is_closed_loop);
        let Self { ctx, root, row, .. } = self;
        self.fine &= ends::check_paths(ctx, root, row, ends, answered, paths, nodes);
        let protocol = match &traffic {
            Some(t) if t.is_closed_loop() => TCP,
            _ => spec.protocol.unwrap_or(UDP),
        };
        let src = spec.src.map(|net| self.source(net));
        let dst = spec.dst.map(|net| self.destination(net));
        Some(Template {
            ends,
            src: src.flatten(),
            dst: dst.map_or(Some(None), |d| d.map(Some))?,
            protocol: protocol.0,
            has_ports: WITH_PORTS.contains(&protocol.0),
            traffic: traffic?,
        })
    }

    /// The first source address, if there are enough addresses for all flows of the row.
    fn source(&mut self, NetSpec(net): NetSpec) -> Option<u32> {
        let prefix = net.mask.leading_ones();
        let hint = "write an address such as 10.1.0.1 (flow i adds i), or a prefix with room for every flow";
        if net.mask == 0 || net.mask.count_ones() != prefix {
            let d =
                Diagnostic::error(codes::BAD_ADDRESS, "a flow cannot send from there").hint(hint);
            self.error(d, &steps!["src"]);
            return None;
        }
        let last = match prefix {
            32 => u32::MAX,
            _ => net.addr | !net.mask,
        };
        let count = self.row.spec.count.max(1);
        if last - net.addr < count - 1 {
            let room = u64::from(last - net.addr) + 1;
            let d = Diagnostic::error(
                codes::BAD_ADDRESS,
                format!("{count} flows need as many addresses, {net} has {room}"),
            )
            .hint(hint);
            self.error(d, &steps!["src"]);
            return None;
        }
        Some(net.addr)
    }

    fn destination(&mut self, NetSpec(net): NetSpec) -> Option<Ipv4Addr> {
        if net.mask == u32::MAX {
            return Some(Ipv4Addr::from(net.addr));
        }
        let d = Diagnostic::error(codes::BAD_ADDRESS, "a flow has one destination")
            .hint("write an address such as 10.2.0.1");
        self.error(d, &steps!["dst"]);
        None
    }
}

/// Checks that names differ, also those that `count` makes.
fn check_names(ctx: &mut Ctx<'_>, root: &Node, rows: &[Row]) {
    let mut first: BTreeMap<&str, &Row> = BTreeMap::new();
    let mut duplicate = |row: &Row, name: &str, other: &str| {
        let d = Diagnostic::error(
            codes::DUPLICATE_NAME,
            format!("two flows are called `{name}`{other}"),
        )
        .hint("give each flow a name of its own");
        row.error(ctx, root, d, &steps!["name"]);
    };
    for row in rows {
        if first.insert(&row.spec.name, row).is_some() {
            duplicate(row, &row.spec.name, "");
        }
    }
    for row in rows.iter().filter(|r| r.spec.count == 1) {
        let Some((base, number)) = row.spec.name.rsplit_once('-') else {
            continue;
        };
        let of_count = first.get(base).filter(|r| r.capture.is_none());
        let made = of_count.map_or(0, |r| r.spec.count);
        let canonical = number
            .parse::<u32>()
            .is_ok_and(|n| made > 1 && n < made && n.to_string() == number);
        if canonical {
            duplicate(
                row,
                &row.spec.name,
                &format!(": this one, and one of the {made} of `{base}`"),
            );
        }
    }
    for row in rows {
        for group in row.capture.iter().flat_map(|c| c.groups()) {
            if group.name != row.spec.name && first.contains_key(&*group.name) {
                let other = format!(": this one, and one of the capture `{}`", row.spec.name);
                duplicate(first[&*group.name], &group.name, &other);
            }
        }
    }
    for row in rows {
        if let Some(problem) = bad_name(&row.spec.name) {
            let d = Diagnostic::error(codes::BAD_NAME, format!("the name of this flow {problem}"))
                .hint("write a short text such as `voice`");
            row.error(ctx, root, d, &steps!["name"]);
        }
    }
}
