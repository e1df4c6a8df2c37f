//! `class-map` and `policy-map`: heads, and the lines inside.

use super::args::unexpected;
use super::ast::{Class, Config, Criterion, Origin, PolicyMap, Test};
use super::class::{self, Bandwidth, Marking};
use super::class_map::criterion;
use super::fault::{Refusal, code, unmodelled};
use super::keyword::{Found, Table, abbreviates};
use super::parse::{Command, Kind, Mode, Parser, PoliceMode, Within, lookup};
use super::police::{self, Color};
use super::queue::LimitOf;
use super::{queue, wred};

/// The most classes that one policy-map may have; IOS stops at 256 or 1000 by platform.
const MAX_CLASSES: usize = 1000;

#[derive(Clone, Copy, PartialEq)]
enum Verb {
    // In a class-map.
    Match,
    Rename,
    // In a policy-map.
    Class,
    // In a class.
    Bandwidth,
    Priority,
    Police,
    Drop,
    Color(Color),
    /// `conform-color` of a policer.
    Colors,
    Shape,
    QueueLimit,
    RandomDetect,
    FairQueue,
    Set,
    ServicePolicy,
    Foreign(&'static str),
    // Anywhere.
    Description,
}

use Verb::Foreign;

const CLASS_MAP: &Table<Verb> = &[
    ("match", Verb::Match),
    ("description", Verb::Description),
    ("rename", Verb::Rename),
];

const POLICY: &Table<Verb> = &[("class", Verb::Class), ("description", Verb::Description)];

/// The commands of a mode, in full.
pub(crate) fn words(mode: Mode<'_>) -> impl Iterator<Item = &'static str> {
    let table = match mode {
        Mode::ClassMap(_) => CLASS_MAP,
        Mode::Policy(_) => POLICY,
        Mode::Class { .. } => CLASS,
        Mode::Global
        | Mode::Block(_)
        | Mode::Acl(_)
        | Mode::ObjectGroup(_)
        | Mode::VcClass(_)
        | Mode::Shown
        | Mode::Interface(..) => &[],
    };
    table.iter().map(|(word, _)| *word)
}

const CLASS: &Table<Verb> = &[
    ("bandwidth", Verb::Bandwidth),
    ("priority", Verb::Priority),
    ("police", Verb::Police),
    ("conform-action", Verb::Color(Color::Conform)),
    ("exceed-action", Verb::Color(Color::Exceed)),
    ("violate-action", Verb::Color(Color::Violate)),
    ("shape", Verb::Shape),
    ("queue-limit", Verb::QueueLimit),
    ("random-detect", Verb::RandomDetect),
    ("fair-queue", Verb::FairQueue),
    ("set", Verb::Set),
    ("service-policy", Verb::ServicePolicy),
    (
        "account",
        Foreign("counting drops for accounting changes no packet"),
    ),
    ("admit", Foreign("call admission control is not modelled")),
    (
        "compression",
        Foreign("header compression is not modelled: packets keep their length"),
    ),
    ("dbl", Foreign("dynamic buffer limiting is not modelled")),
    ("drop", Verb::Drop),
    (
        "estimate",
        Foreign("bandwidth estimation changes no packet"),
    ),
    ("log", Foreign("logging changes no packet")),
    ("measure", Foreign("measurement changes no packet")),
    ("netflow-sampler", Foreign("flow export changes no packet")),
    (
        "trust",
        Foreign("trust states of switch ports are not modelled"),
    ),
];

/// A line inside a class-map, policy-map or class; none if it is neither's.
pub(crate) fn command<'a>(p: &mut Parser<'a, '_, '_>, c: Command<'a>) -> Option<Kind> {
    let tables: &[&Table<Verb>] = match p.mode {
        Mode::ClassMap(_) => &[CLASS_MAP],
        Mode::Policy(_) => &[POLICY],
        _ => &[CLASS, POLICY],
    };
    // Not in the table, lest `conform` be ambiguous.
    let found = match p.mode {
        Mode::Class { .. } if abbreviates(c.word.text, "conform-color", 9) => {
            Found::Exact(Verb::Colors)
        }
        _ => lookup(tables, &c),
    };
    let word = match found {
        Found::Exact(word) | Found::Prefix(word) => word,
        Found::Ambiguous(names) => {
            p.refuse(c.origin(), super::args::ambiguous(c.word, &names));
            return Some(Kind::Queueing);
        }
        Found::None => return None,
    };
    let result = match (word, p.mode) {
        (Verb::Description, _) => Ok(()),
        (_, Mode::ClassMap(name)) => match_line(p, c, name, word),
        (Verb::Class, Mode::Policy(policy) | Mode::Class { policy, .. }) => {
            class_line(p, c, policy)
        }
        (_, Mode::Class { policy, class, .. }) => action_line(p, c, policy, class, word),
        _ => Ok(()),
    };
    if let Err(refusal) = result {
        p.refuse(c.origin(), refusal);
    }
    Some(Kind::Queueing)
}

/// Where a mode is, for diagnostics: `policy-map.WAN.class.voice`.
pub(crate) fn path(mode: Mode<'_>, config: &Config<'_>) -> String {
    match mode {
        Mode::Global | Mode::Block(_) | Mode::Shown => String::new(),
        Mode::ClassMap(name) => format!("class-map.{name}"),
        Mode::Policy(name) => format!("policy-map.{name}"),
        Mode::Class { policy, class, .. } => {
            let class = config
                .policy_maps
                .get(policy)
                .and_then(|p| p.classes.get(class))
                .map_or("", |c| c.name);
            format!("policy-map.{policy}.class.{class}")
        }
        Mode::Acl(name) => format!("access-list.{name}"),
        Mode::ObjectGroup(name) => format!("object-group.{name}"),
        Mode::VcClass(name) => format!("vc-class.{name}"),
        Mode::Interface(index, inner) => {
            let interface = config.interfaces.get(index);
            let name = interface.map_or("", |i| i.name.as_str());
            let circuit = inner.and_then(|i| match i.within {
                Within::Pvc(at) => interface?.circuits.get(at),
                Within::LeftOut | Within::Other => None,
            });
            match circuit {
                Some(circuit) => format!("interface.{name}.pvc.{}", circuit.vc),
                None => format!("interface.{name}"),
            }
        }
    }
}

/// `[no] match ...`.
fn match_line<'a>(
    p: &mut Parser<'a, '_, '_>,
    mut c: Command<'a>,
    name: &'a str,
    word: Verb,
) -> Result<(), Refusal> {
    if word == Verb::Rename {
        return Err(Refusal::NotUnderstood(
            "renaming is not understood".to_owned(),
        ));
    }
    let negated = c.args.peek().is_some_and(|w| abbreviates(w.text, "not", 2));
    let parsed = criterion(&mut c.args);
    let Some(map) = p.config.class_maps.get_mut(name) else {
        return Ok(());
    };
    let origin = c.origin();
    match parsed {
        Ok(parsed) if c.negated => {
            match map
                .criteria
                .iter()
                .rposition(|m| m.value == parsed.criterion)
            {
                Some(i) => {
                    map.criteria.remove(i);
                }
                None => p
                    .report
                    .unmodelled(origin, "the class-map has no such criterion"),
            }
        }
        Ok(parsed) => {
            if let Some(remark) = parsed.remark {
                p.report.unmodelled(origin, remark);
            }
            let column = parsed.column;
            let origin = Origin { column, ..origin };
            map.criteria.push(origin.at(parsed.criterion));
        }
        Err(refusal @ (Refusal::Unmodelled(_) | Refusal::NotUnderstood(_))) => {
            if !c.negated {
                let test = Test::Unmodelled;
                map.criteria.push(origin.at(Criterion { negated, test }));
            }
            return Err(refusal);
        }
        Err(wrong) => return Err(wrong),
    }
    Ok(())
}

/// `[no] class NAME [insert-before OTHER]`.
fn class_line<'a>(
    p: &mut Parser<'a, '_, '_>,
    mut c: Command<'a>,
    policy: &'a str,
) -> Result<(), Refusal> {
    p.mode = Mode::Policy(policy);
    let name = c.args.name("the name of a class-map")?;
    let origin = Origin::new(c.line, name.column);
    let Some(map) = p.config.policy_maps.get_mut(policy) else {
        return Ok(());
    };
    let before = if c.args.take("insert-before") {
        Some(c.args.name("the name of a class of this policy-map")?)
    } else {
        None
    };
    c.args.finish()?;
    if c.negated {
        if let Some(i) = map.index.remove(name.text) {
            map.classes.remove(i);
            reindex(map, i);
        }
        return Ok(());
    }
    let class = match map.index.get(name.text) {
        Some(i) => *i,
        None => {
            if map.classes.len() >= MAX_CLASSES {
                let message = format!("the policy-map has more than {MAX_CLASSES} classes");
                let fault = name.fault(code::TOO_LARGE, message);
                return Err(fault.hint("split the policy-map").into());
            }
            let at = match before {
                None => map.classes.len(),
                Some(b) => *map
                    .index
                    .get(b.text)
                    .ok_or_else(|| unexpected(b, "a class that the policy-map already has"))?,
            };
            map.classes.insert(at, Class::new(name.text, origin));
            reindex(map, at);
            at
        }
    };
    p.mode = Mode::Class {
        policy,
        class,
        police: PoliceMode::None,
    };
    Ok(())
}

fn reindex(map: &mut PolicyMap<'_>, from: usize) {
    for (i, class) in map.classes.iter().enumerate().skip(from) {
        map.index.insert(class.name, i);
    }
}

/// A line of a class.
fn action_line<'a>(
    p: &mut Parser<'a, '_, '_>,
    mut c: Command<'a>,
    policy: &'a str,
    index: usize,
    word: Verb,
) -> Result<(), Refusal> {
    let origin = c.origin();
    let Some(class) = p
        .config
        .policy_maps
        .get_mut(policy)
        .and_then(|m| m.classes.get_mut(index))
    else {
        return Ok(());
    };
    if matches!(word, Verb::Color(_) | Verb::Colors) {
        // What is wrong was said of the policer.
        if let Mode::Class {
            police: PoliceMode::LeftOut,
            ..
        } = p.mode
        {
            return Ok(());
        }
    } else {
        p.mode = Mode::Class {
            policy,
            class: index,
            police: PoliceMode::None,
        };
    }
    if c.negated {
        return remove(class, c, word);
    }
    let mut lost: Vec<String> = Vec::new();
    let args = &mut c.args;
    match word {
        Verb::Bandwidth => {
            let parsed = class::bandwidth(args)?;
            lost.extend(parsed.lost);
            match parsed.value {
                Bandwidth::Guaranteed(value) => class.bandwidth = Some(origin.at(value)),
                Bandwidth::Remaining(value) => class.remaining = Some(origin.at(value)),
            }
        }
        Verb::Priority => {
            let value = class::priority(args)?;
            class.priority = Some(origin.at(value));
        }
        Verb::Drop => {
            args.finish()?;
            class.drop = Some(origin);
        }
        Verb::Shape => {
            let parsed = queue::shape(args)?;
            lost.extend(parsed.lost);
            let value = parsed.value;
            class.shape = Some(origin.at(value));
        }
        Verb::Police => {
            let mut enter = |police| {
                p.mode = Mode::Class {
                    policy,
                    class: index,
                    police,
                };
            };
            enter(PoliceMode::LeftOut);
            let parsed = police::police(args)?;
            lost = parsed.lost;
            let value = parsed.police;
            class.police = Some(origin.at(value));
            enter(if parsed.opens_mode {
                PoliceMode::Open
            } else {
                PoliceMode::None
            });
        }
        Verb::Color(_) | Verb::Colors => {
            let Some(police) = &mut class.police else {
                let message = format!("`{}` without a police command before it", c.word.text);
                let fault = c.word.fault(code::UNEXPECTED, message);
                return Err(fault
                    .hint("write `police` and a rate in bit/s first")
                    .into());
            };
            match word {
                Verb::Color(color) => {
                    police::apply(&mut police.value, color, args, &mut lost)?;
                    args.finish()?;
                }
                _ => police::colors(&mut police.value, args)?,
            }
        }
        Verb::QueueLimit => {
            let (of, value) = queue::queue_limit(args)?;
            let limit = origin.at(value);
            match of {
                LimitOf::All => class.queue_limit = Some(limit),
                LimitOf::Dscp(all) => class.dscp_limits.extend(all.iter().map(|d| (*d, limit))),
                LimitOf::Precedence(all) => {
                    class
                        .precedence_limits
                        .extend(all.iter().map(|p| (*p, limit)));
                }
            }
        }
        Verb::FairQueue => {
            let parsed = queue::fair_queue(args)?;
            lost.extend(parsed.lost);
            let value = parsed.value;
            class.fair_queue = Some(origin.at(value));
        }
        Verb::RandomDetect => wred::random_detect(&mut class.wred, args, origin)?,
        Verb::Set => match class::set(args)? {
            Marking::Dscp(value) => class.set_dscp = Some(origin.at(value)),
            Marking::Exp(value) => class.set_exp = Some(origin.at(value)),
            Marking::Imposition(value) => class.set_exp_imposition = Some(origin.at(value)),
            Marking::Cos(value) => class.set_cos = Some(origin.at(value)),
            Marking::QosGroup(value) => class.set_qos_group = Some(origin.at(value)),
        },
        Verb::ServicePolicy => {
            let name = args.named("the name of a policy-map")?;
            args.finish()?;
            class.policy = Some(name);
        }
        Verb::Foreign(reason) => return unmodelled(reason),
        Verb::Match | Verb::Rename | Verb::Class | Verb::Description => {}
    }
    for reason in lost {
        p.report.unmodelled(origin, reason);
    }
    Ok(())
}

/// `no` and a line of a class: the class loses it.
fn remove<'a>(class: &mut Class<'a>, mut c: Command<'a>, word: Verb) -> Result<(), Refusal> {
    match word {
        Verb::Bandwidth => {
            if c.args.take("remaining") {
                class.remaining = None;
            } else if c.args.peek().is_some() {
                class.bandwidth = None;
            } else {
                (class.bandwidth, class.remaining) = (None, None);
            }
        }
        Verb::Priority => class.priority = None,
        Verb::Shape => class.shape = None,
        Verb::Police => class.police = None,
        Verb::Drop => class.drop = None,
        Verb::Color(color) => {
            if let Some(police) = &mut class.police {
                match color {
                    Color::Conform => police.value.conform.clear(),
                    Color::Exceed => police.value.exceed.clear(),
                    Color::Violate => police.value.violate.clear(),
                }
            }
        }
        Verb::Colors => {
            if let Some(police) = &mut class.police {
                (police.value.conform_color, police.value.exceed_color) = (None, None);
            }
        }
        Verb::QueueLimit => match queue::limit_of(&mut c.args)? {
            LimitOf::All => class.queue_limit = None,
            LimitOf::Dscp(all) => all.iter().for_each(|d| {
                class.dscp_limits.remove(d);
            }),
            LimitOf::Precedence(all) => all.iter().for_each(|p| {
                class.precedence_limits.remove(p);
            }),
        },
        Verb::FairQueue => class.fair_queue = None,
        Verb::RandomDetect => return wred::remove(&mut class.wred, &mut c.args),
        Verb::Set if c.args.take("mpls") => {
            (class.set_exp, class.set_exp_imposition) = (None, None);
        }
        Verb::Set if c.args.take("cos") => class.set_cos = None,
        Verb::Set if c.args.take("qos-group") => class.set_qos_group = None,
        Verb::Set => class.set_dscp = None,
        Verb::ServicePolicy => class.policy = None,
        Verb::Foreign(_) | Verb::Match | Verb::Rename | Verb::Class | Verb::Description => {}
    }
    Ok(())
}
