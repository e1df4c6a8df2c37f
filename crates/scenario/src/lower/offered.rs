//! Makes flows of a router's counters: one flow for each class with an offered rate.

use spillgate_core::{Dscp, Rate, Size};
use spillgate_endpoints::source::spec::{
    CbrSpec, Imix, MAX_PACKET, MIN_PACKET, PacketSizeSpec, PoissonSpec, SourceSpec,
};

use super::matrix::{positive, scaled};
use super::rows::Row;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Span, Step, steps};
use crate::offered::{OfferedClass, OfferedPolicy};
use crate::schema::{FlowSpec, MeasuredClassSpec, MeasuredSource, ShowPolicyMapSpec};
use spillgate_core::suggest::{did_you_mean, list};

/// The flows of an output of `show policy-map interface`; none if it cannot be used.
pub(super) fn read(
    ctx: &mut Ctx<'_>,
    spec: &ShowPolicyMapSpec,
    root: &Node,
    index: usize,
) -> Option<Vec<Row>> {
    let base = steps!["traffic", index, "show-policy-map"];
    let at = |key: &str| steps!["traffic", index, "show-policy-map", key];
    let fine = positive(ctx, spec.scale, root, &at("scale"));
    let (offered, file) = ctx.offered(&spec.file, root, &at("file"))?;
    let policy = choose(ctx, spec, &offered.policies, root, &at("interface"))?;
    let leaves: Vec<&OfferedClass> = policy
        .classes
        .iter()
        .filter(|c| c.child.is_none())
        .collect();
    known(ctx, spec, &leaves, root, &at("classes"))?;
    if !fine {
        return None;
    }
    let framing = spec
        .framing
        .map_or_else(|| policy.framing.map(u64::from), |s| Some(s.0));
    let place = |line: u32| Span {
        text: file,
        line,
        column: 1,
        width: 0,
    };
    let mut rows = Vec::new();
    let mut silent = Vec::new();
    for class in &leaves {
        let name = label(class, &leaves);
        let own = spec
            .classes
            .get(&name)
            .or_else(|| spec.classes.get(&class.name))
            .cloned()
            .unwrap_or_default();
        if own.skip {
            continue;
        }
        let Some(bps) = class.offered_bps.filter(|r| *r > 0) else {
            silent.push(name);
            continue;
        };
        let dscp = own.dscp.unwrap_or_else(|| {
            unknown_code_point(ctx, class, place(class.line), &base);
            class.dscp.first().copied().unwrap_or_default()
        });
        let (rate, packet) = numbers(bps, class, &own, spec, framing.unwrap_or(0));
        let flow = flow(spec, &own, name, dscp, rate, packet);
        rows.push(Row::of_line(flow, &base, place(class.line)));
    }
    if rows.is_empty() {
        let d = Diagnostic::error(
            codes::NO_TRAFFIC,
            format!("no class of policy `{}` offers anything", policy.policy),
        )
        .hint("take the output while the router carries traffic: rates are averages of minutes");
        ctx.report(ctx.texts.place(d, place(policy.line), &base));
        return None;
    }
    let mut said = format!(
        "what `{}` has measured of policy `{}` are averages: packets of a class all have its mean size \
         and come as {}, {}",
        policy.interface,
        policy.policy,
        match spec.source {
            MeasuredSource::Poisson => "a Poisson process",
            MeasuredSource::Cbr => "a constant stream",
        },
        match framing {
            Some(bytes) => format!("{bytes} B of layer 2 taken off each"),
            None => "no layer 2 taken off: write `framing` if the router counts it".to_owned(),
        }
    );
    if !silent.is_empty() {
        said += &format!(
            "; nothing is offered to {}",
            list(silent.iter().map(String::as_str))
        );
    }
    let d = Diagnostic::warning(codes::W_MEASURED, said);
    ctx.note(ctx.texts.place(d, place(policy.line), &base));
    Some(rows)
}

/// The policy of the interface that the scenario names, or the only policy.
fn choose<'a>(
    ctx: &mut Ctx<'_>,
    spec: &ShowPolicyMapSpec,
    policies: &'a [OfferedPolicy],
    root: &Node,
    path: &[Step],
) -> Option<&'a OfferedPolicy> {
    let direction = spec.direction.name();
    let there: Vec<&OfferedPolicy> = policies
        .iter()
        .filter(|p| p.direction == direction)
        .collect();
    let fits = |p: &&&OfferedPolicy| match &spec.interface {
        Some(wanted) => same_interface(wanted, &p.interface),
        None => true,
    };
    let chosen: Vec<_> = there.iter().filter(fits).collect();
    if let [only] = chosen[..] {
        return Some(*only);
    }
    let names = || there.iter().map(|p| p.interface.as_str());
    let message = match (&spec.interface, chosen.is_empty()) {
        (Some(wanted), true) => format!("no {direction} policy on an interface `{wanted}`"),
        (_, true) => format!("the output has no {direction} policy"),
        _ => format!("the output has {} {direction} policies", chosen.len()),
    };
    let hint = if there.is_empty() {
        "write `direction: input` for what the router receives".to_owned()
    } else {
        format!("write `interface`, one of {}", list(names()))
    };
    ctx.error(
        Diagnostic::error(codes::UNKNOWN_INTERFACE, message).hint(hint),
        root,
        path,
    );
    None
}

/// `gi0/1` is GigabitEthernet0/1, and `atm1/0.1` each circuit of it.
fn same_interface(wanted: &str, name: &str) -> bool {
    let split = |s: &str| {
        let digits = s.find(|c: char| c.is_ascii_digit()).unwrap_or(s.len());
        (
            s[..digits].trim().to_ascii_lowercase(),
            s[digits..].to_owned(),
        )
    };
    let ((kind, place), (whole, number)) = (split(wanted.trim()), split(name));
    let interface = number.split(' ').next().unwrap_or_default();
    let same = place == number || place == interface;
    same && (whole.starts_with(&kind) && !kind.is_empty() || whole == kind)
}

/// Checks that every key of `classes` is a class.
fn known(
    ctx: &mut Ctx<'_>,
    spec: &ShowPolicyMapSpec,
    leaves: &[&OfferedClass],
    root: &Node,
    path: &[Step],
) -> Option<()> {
    let labels: Vec<String> = leaves.iter().map(|c| label(c, leaves)).collect();
    let mut fine = true;
    for name in spec.classes.keys() {
        if labels.contains(name) || leaves.iter().any(|c| c.name == *name) {
            continue;
        }
        let names = || labels.iter().map(String::as_str);
        let near = did_you_mean(name, names());
        let message = format!("the policy has no class `{name}` with a queue of its own{near}");
        let d = Diagnostic::error(codes::UNKNOWN_CLASS, message)
            .found(name)
            .hint(format!("classes: {}", list(names())));
        let mut path = path.to_vec();
        path.push(Step::Key(name.clone()));
        ctx.error(d, root, &path);
        fine = false;
    }
    fine.then_some(())
}

/// The name of the class, with those of its parents if another class has the same name.
fn label(class: &OfferedClass, leaves: &[&OfferedClass]) -> String {
    let alike = leaves.iter().filter(|c| c.name == class.name).count();
    if alike < 2 || class.within.is_empty() {
        return class.name.clone();
    }
    format!("{}/{}", class.within.join("/"), class.name)
}

/// Warns if packets of the class may have other code points than the flow.
fn unknown_code_point(ctx: &mut Ctx<'_>, class: &OfferedClass, place: Span, base: &[Step]) {
    let any = class.name == "class-default" || class.matches.iter().any(|m| m == "any");
    let (message, hint) = match class.dscp[..] {
        [_] => return,
        [] if any => return,
        // IOS XR does not print what a class matches.
        [] if class.matches.is_empty() => (
            format!(
                "the output does not say what class `{}` matches: its packets are sent with DSCP default",
                class.name
            ),
            "say what they carry: classes: {NAME: {dscp: af31}}",
        ),
        [] => (
            format!(
                "class `{}` does not match on DSCP ({}): its packets are sent with DSCP default",
                class.name,
                list(class.matches.iter().map(String::as_str))
            ),
            "say what they carry: classes: {NAME: {dscp: af31}}",
        ),
        [first, ..] => (
            format!(
                "class `{}` matches {} code points: its packets are sent with {first}",
                class.name,
                class.dscp.len()
            ),
            "choose another: classes: {NAME: {dscp: af31}}",
        ),
    };
    let d = Diagnostic::warning(codes::W_CODE_POINT, message).hint(hint);
    ctx.note(ctx.texts.place(d, place, base));
}

/// The rate of the IP packets, and their sizes.
fn numbers(
    bps: u64,
    class: &OfferedClass,
    own: &MeasuredClassSpec,
    spec: &ShowPolicyMapSpec,
    framing: u64,
) -> (Rate, PacketSizeSpec) {
    let framing = framing as f64;
    let measured = class.mean_packet().map(|len| {
        let whole = (len - framing + 0.5).clamp(f64::from(MIN_PACKET), f64::from(MAX_PACKET));
        PacketSizeSpec::Fixed(Size(whole as u64))
    });
    let packet = own
        .packet
        .clone()
        .or(measured)
        .or_else(|| spec.packet.clone())
        .unwrap_or(PacketSizeSpec::Imix(Imix::Simple));
    let mean = packet.mean();
    let bps = scaled(bps, spec.scale * mean / (mean + framing));
    (Rate::from_bps(bps).unwrap_or(ONE), packet)
}

/// A rate is at least this.
const ONE: Rate = Rate::from_bps(1).unwrap();

fn flow(
    spec: &ShowPolicyMapSpec,
    own: &MeasuredClassSpec,
    name: String,
    dscp: Dscp,
    rate: Rate,
    packet: PacketSizeSpec,
) -> FlowSpec {
    let source = match own.source.unwrap_or(spec.source) {
        MeasuredSource::Poisson => SourceSpec::Poisson(PoissonSpec { rate, packet }),
        MeasuredSource::Cbr => SourceSpec::Cbr(CbrSpec {
            rate,
            packet,
            phase: None,
            jitter: spillgate_core::Percent(0.0),
        }),
    };
    let name = match &spec.prefix {
        Some(prefix) => format!("{prefix}:{name}"),
        None => name,
    };
    FlowSpec {
        class: own.class.clone(),
        dscp,
        source: Some(source),
        ..FlowSpec::between(name, spec.from.clone(), spec.to.clone())
    }
}
