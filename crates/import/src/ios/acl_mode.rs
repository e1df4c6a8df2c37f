//! Access lists as text: which lines belong to which list.

use std::collections::BTreeMap;

use super::ast::{Acl, AclKind, AclLine};
use super::globals::Global;
use super::keyword::{Found, find};
use super::lexer::{Word, Words};
use super::parse::{Command, Kind, Mode, Parser};

#[derive(Clone, Copy, PartialEq)]
enum AclWord {
    Permit,
    Deny,
    Remark,
    Special,
}

const ACL_WORDS: [(&str, AclWord); 5] = [
    ("permit", AclWord::Permit),
    ("deny", AclWord::Deny),
    ("remark", AclWord::Remark),
    ("evaluate", AclWord::Special),
    ("dynamic", AclWord::Special),
];

impl<'a> Parser<'a, '_, '_> {
    /// `access-list NUMBER {permit | deny | remark} ...`.
    pub(super) fn numbered_acl(&mut self, mut c: Command<'a>) -> Kind {
        self.enter(Mode::Global, c.line);
        let Some(name) = c
            .args
            .next()
            .filter(|n| n.text.bytes().all(|b| b.is_ascii_digit()))
        else {
            return Kind::Other;
        };
        if c.negated {
            self.config.acls.remove(name.text);
            return Kind::Queueing;
        }
        let kind = match name.text.parse() {
            Ok(1..=99_u32 | 1300..=1999) => AclKind::Standard,
            Ok(100..=199 | 2000..=2699) => AclKind::Extended,
            _ => AclKind::Foreign("non-IP"),
        };
        let Some(word) = c.args.next() else {
            return Kind::Other;
        };
        self.acl(name.text, kind);
        self.push_acl_line(name.text, None, word, c)
    }

    /// `ip access-list {standard | extended} NAME` and its kin of other families.
    pub(super) fn named_acl(&mut self, mut c: Command<'a>, family: Option<Global>) -> Kind {
        if !c.args.take("access-list") {
            // `ip vrf`, `ip dhcp pool` and others open a mode.
            let what = "something that is no interface";
            return match self.mode {
                Mode::Interface(..) => Kind::Other,
                _ => self.other(c, Mode::Block(what)),
            };
        }
        let kinds = [
            ("standard", AclKind::Standard),
            ("extended", AclKind::Extended),
        ];
        let kind = match family {
            Some(Global::Ip) => match c.args.try_keyword(&kinds) {
                Some(kind) => kind,
                None => return self.other(c, Mode::Global),
            },
            Some(Global::Ipv4) => AclKind::Extended,
            Some(Global::Ipv6) => AclKind::Foreign("IPv6"),
            _ => {
                c.args.take("extended");
                AclKind::Foreign("MAC")
            }
        };
        match c.args.name("the name of the access list") {
            Ok(name) if c.negated => {
                self.config.acls.remove(name.text);
                self.enter(Mode::Global, c.line);
            }
            Ok(name) => {
                self.acl(name.text, kind);
                self.enter(Mode::Acl(name.text), c.line);
            }
            Err(refusal) => {
                self.report.refuse(c.origin(), "", refusal);
                self.enter(Mode::Global, c.line);
            }
        }
        Kind::Queueing
    }

    /// A line inside `ip access-list`.
    pub(super) fn acl_line(&mut self, mut c: Command<'a>, name: &'a str, deeper: bool) -> Kind {
        // Lists of IPv6 say it in words.
        let mut numbered = c.args;
        let said = c.word.text.eq_ignore_ascii_case("sequence");
        let number = match said {
            true => numbered.next().map_or("", |w| w.text),
            false => c.word.text,
        };
        if let Ok(n) = number.parse::<u32>() {
            if said {
                c.args = numbered;
            }
            match c.args.next() {
                Some(word) => return self.push_acl_line(name, Some(n), word, c),
                None if c.negated => {
                    if let Some(acl) = self.config.acls.get_mut(name) {
                        acl.lines.remove(&n);
                    }
                }
                None => {}
            }
            return Kind::Queueing;
        }
        if !matches!(find(&ACL_WORDS, c.word.text), Found::None) {
            return self.push_acl_line(name, None, c.word, c);
        }
        if deeper {
            Kind::Other
        } else {
            self.global(c, deeper)
        }
    }

    fn push_acl_line(
        &mut self,
        name: &'a str,
        sequence: Option<u32>,
        word: Word<'a>,
        c: Command<'a>,
    ) -> Kind {
        let permit = match find(&ACL_WORDS, word.text) {
            Found::Exact(w) | Found::Prefix(w) => match w {
                AclWord::Permit => Some(true),
                AclWord::Deny => Some(false),
                AclWord::Remark => return Kind::Queueing,
                AclWord::Special => None,
            },
            Found::None | Found::Ambiguous(_) => None,
        };
        let Some(acl) = self.config.acls.get_mut(name) else {
            return Kind::Queueing;
        };
        let rest = c.args.words();
        if c.negated {
            let same = |l: &AclLine<'_>| l.permit == permit && same_words(l.rest, rest);
            let found = acl.lines.iter().find(|(_, l)| same(l)).map(|(n, _)| *n);
            if let Some(n) = found {
                acl.lines.remove(&n);
            }
            return Kind::Queueing;
        }
        // Without a number a line comes ten after the last, as IOS numbers them.
        let last = acl.lines.last_key_value().map_or(0, |(n, _)| *n);
        let number = sequence.unwrap_or_else(|| last.saturating_add(10));
        acl.lines.insert(number, AclLine { permit, rest });
        Kind::Queueing
    }

    /// The list of that name; one of another kind is replaced.
    fn acl(&mut self, name: &'a str, kind: AclKind) -> &mut Acl<'a> {
        let acl = self.config.acls.entry(name).or_insert_with(|| Acl {
            kind,
            lines: BTreeMap::new(),
        });
        if acl.kind != kind {
            acl.kind = kind;
            acl.lines.clear();
        }
        acl
    }
}

pub(super) fn same_words(a: Words<'_>, b: Words<'_>) -> bool {
    a.map(|w| w.text.to_ascii_lowercase())
        .eq(b.map(|w| w.text.to_ascii_lowercase()))
}
