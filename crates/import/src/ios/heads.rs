//! Heads of class-maps and policy-maps.

use std::collections::BTreeMap;

use super::args::{Args, ambiguous, unexpected};
use super::ast::{ClassMap, Origin, PolicyMap};
use super::fault::{Refusal, code};
use super::keyword::{Found, abbreviates, find};
use super::lexer::Word;
use super::parse::{Command, Kind, Mode, Parser};

/// Head of a class-map: `class-map [type T] [match-any | match-all] NAME`.
pub(crate) fn class_map<'a>(p: &mut Parser<'a, '_, '_>, mut c: Command<'a>) -> Kind {
    #[derive(Clone, Copy, PartialEq)]
    enum Head {
        Any,
        All,
        Type,
    }
    const HEADS: [(&str, Head); 3] = [
        ("match-any", Head::Any),
        ("match-all", Head::All),
        ("type", Head::Type),
    ];
    p.enter(Mode::Global, c.line);
    let head = |args: &mut Args<'a>| -> Result<(Option<Head>, Word<'a>), Refusal> {
        const NAME: &str = "the name of the class-map";
        let first = args.name(NAME)?;
        let head = match (find(&HEADS, first.text), args.peek()) {
            (Found::Exact(head), _) | (Found::Prefix(head), Some(_)) => head,
            (_, None) => return Ok((None, first)),
            (Found::Ambiguous(names), Some(_)) => {
                return Err(ambiguous(first, &names));
            }
            (Found::None, Some(extra)) => {
                return Err(unexpected(
                    extra,
                    "match-any or match-all before the name, or nothing",
                ));
            }
        };
        let name = args.name(NAME)?;
        if head != Head::Type {
            args.finish()?;
        }
        Ok((Some(head), name))
    };
    let (head, name) = match head(&mut c.args) {
        Ok(found) => found,
        Err(refusal) => {
            return p.refuse_block(&c, "class-map", "a class-map in error", refusal);
        }
    };
    if head == Some(Head::Type) {
        if !c.negated {
            let reason = format!("class-maps of type {} do not queue packets", name.text);
            p.report.unmodelled(c.origin(), reason);
        }
        p.other(c, Mode::Block("something that is no interface"));
        return Kind::Queueing;
    }
    if c.negated {
        p.config.class_maps.remove(name.text);
        return Kind::Queueing;
    }
    let origin = Origin::new(c.line, name.column);
    let entry = p.config.class_maps.entry(name.text);
    let map = entry.or_insert_with(|| ClassMap {
        origin,
        any: head == Some(Head::Any),
        criteria: Vec::new(),
    });
    // A block that is entered again may leave the kind out, not change it.
    if head.is_some_and(|h| (h == Head::Any) != map.any) {
        let was = if map.any { "match-any" } else { "match-all" };
        let first = map.origin.line;
        let message = format!("class-map `{}` is {was} since line {first}", name.text);
        let fault = name.fault(code::CONFLICT, message);
        let hint = format!("write {was}, or `no class-map {}` first", name.text);
        let (path, instead) = (
            format!("class-map.{}", name.text),
            format!("it stays {was}"),
        );
        p.report.stand_in(
            code::LEFT_OUT,
            c.line.number,
            path,
            fault.hint(hint),
            &instead,
        );
    }
    p.enter(Mode::ClassMap(name.text), c.line);
    Kind::Queueing
}

/// Head of a policy-map: `policy-map [type T] NAME`.
pub(crate) fn policy_map<'a>(p: &mut Parser<'a, '_, '_>, mut c: Command<'a>) -> Kind {
    p.enter(Mode::Global, c.line);
    let head = |args: &mut Args<'a>| -> Result<(bool, Word<'a>), Refusal> {
        const NAME: &str = "the name of the policy-map";
        let first = args.name(NAME)?;
        if args.peek().is_none() {
            return Ok((false, first));
        }
        if !abbreviates(first.text, "type", 1) {
            return args.finish().map(|()| (false, first));
        }
        let mut name = args.name(NAME)?;
        while let Some(last) = args.next() {
            name = last;
        }
        Ok((true, name))
    };
    let (foreign, name) = match head(&mut c.args) {
        Ok(found) => found,
        Err(refusal) => {
            return p.refuse_block(&c, "policy-map", "a policy-map in error", refusal);
        }
    };
    if foreign {
        if !c.negated {
            p.config.foreign_policies.insert(name.text);
            p.report
                .unmodelled(c.origin(), "policy-maps of a `type` do not queue packets");
        }
        p.other(c, Mode::Block("something that is no interface"));
        return Kind::Queueing;
    }
    if c.negated {
        p.config.policy_maps.remove(name.text);
        return Kind::Queueing;
    }
    let origin = Origin::new(c.line, name.column);
    p.config
        .policy_maps
        .entry(name.text)
        .or_insert_with(|| PolicyMap {
            origin,
            classes: Vec::new(),
            index: BTreeMap::new(),
        });
    p.enter(Mode::Policy(name.text), c.line);
    Kind::Queueing
}
