//! Marks of a firewall: which packets have the mark that a filter of the kind `fw` asks for.
//!
//! Rules of `iptables` and `nft` in the same script that mark by DSCP, protocol, ports and
//! addresses are followed, all chains as one, in the order of the script. A mark does not end the
//! way through the rules, so that the last rule that holds decides, but for `RETURN` and `ACCEPT`.

use spillgate_core::Dscp;
use spillgate_queueing::spec::{AclEntry, MatchSpec, NetSpec, OneOrMany, PortRange, Protocol};

use crate::ios::fault::Refusal;

use super::filter::number;
use super::shell::Command;

/// What a rule does with its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Mark(u32),
    /// The packet meets no rule behind it.
    Ends,
}

/// A rule.
#[derive(Clone, Debug)]
struct Rule {
    matching: MatchSpec,
    /// The device by which packets leave, if it asks for one.
    out: Option<String>,
    verdict: Verdict,
}

/// Packets, and their mark.
#[derive(Clone, Debug)]
struct Marked {
    matching: MatchSpec,
    out: Option<String>,
    mark: u32,
}

/// What is known of marks.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Packets that have ended their way: the first condition that holds decides.
    ended: Vec<Marked>,
    /// The others.
    going: Vec<Marked>,
}

impl Marks {
    /// Takes a command of a firewall that marks; `false`: it is none.
    ///
    /// # Errors
    /// Something of it is not followed.
    pub(super) fn take(&mut self, command: &Command) -> Result<bool, Refusal> {
        let words = command.words.iter().map(|w| w.text.as_str());
        let words: Vec<&str> = words.collect();
        let Some(program) = words.first().and_then(|w| w.rsplit('/').next()) else {
            return Ok(false);
        };
        let rule = match program {
            "iptables" | "ip6tables" if iptables_marks(&words) => {
                if program == "ip6tables" {
                    return unmodelled("packets are those of IPv4 here");
                }
                iptables(&words[1..])?
            }
            "nft" if words.contains(&"mark") && words.contains(&"set") => nft(&words[1..])?,
            _ => return Ok(false),
        };
        if command.inside.is_some() || command.words.iter().any(|w| w.unknown.is_some()) {
            return unmodelled(
                "whether it runs, or a value of it, is known to a running shell only",
            );
        }
        self.add(rule);
        Ok(true)
    }

    fn add(&mut self, rule: Rule) {
        let Rule {
            matching,
            out,
            verdict,
        } = rule;
        let Verdict::Mark(mark) = verdict else {
            for before in &self.going {
                let elsewhere = out.is_some() && before.out.is_some() && out != before.out;
                if !elsewhere {
                    let same = matching == before.matching;
                    let both = || MatchSpec::all(vec![matching.clone(), before.matching.clone()]);
                    self.ended.push(Marked {
                        matching: if same { matching.clone() } else { both() },
                        out: out.clone().or_else(|| before.out.clone()),
                        mark: before.mark,
                    });
                }
            }
            self.ended.push(Marked {
                matching,
                out,
                mark: 0,
            });
            return;
        };
        let marked = Marked {
            matching,
            out,
            mark,
        };
        self.going.insert(0, marked);
    }

    /// Which packets that leave by a device have a mark; none if no rule gives it.
    pub(super) fn of(&self, mark: u32, device: &str) -> Option<MatchSpec> {
        let here = |m: &&Marked| m.out.as_ref().is_none_or(|out| out == device);
        let all = self.ended.iter().chain(&self.going).filter(here);
        let all: Vec<&Marked> = all.collect();
        let last = all.iter().rposition(|m| m.mark == mark)?;
        let entries = all[..=last].iter().map(|m| AclEntry {
            permit: m.mark == mark,
            matching: m.matching.clone(),
        });
        let entries: Vec<AclEntry> = entries.collect();
        Some(match &entries[..] {
            [one] => one.matching.clone(),
            _ => MatchSpec::acl(entries),
        })
    }
}

fn unmodelled<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Unmodelled(reason.into()))
}

/// Whether a command of `iptables` has to do with marks: it gives one, or ends the way through the
/// table in which they are given.
fn iptables_marks(words: &[&str]) -> bool {
    let behind = |key: &[&str]| {
        let at = words.iter().position(|w| key.contains(w))?;
        words.get(at + 1).copied()
    };
    let adds = words
        .iter()
        .any(|w| ["-A", "--append", "-I", "--insert"].contains(w));
    let target = behind(&["-j", "--jump", "-g", "--goto"]);
    adds && match target {
        Some("MARK" | "CONNMARK") => true,
        Some("RETURN" | "ACCEPT") => behind(&["-t", "--table"]) == Some("mangle"),
        _ => false,
    }
}

/// A rule of `iptables`.
fn iptables(words: &[&str]) -> Result<Rule, Refusal> {
    let mut found = MatchSpec::default();
    let mut out = None;
    let mut verdict = None;
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_default();
        match word {
            "-t" | "--table" | "-A" | "--append" | "-m" | "--match" | "--comment" => {
                value();
            }
            "-p" | "--protocol" => found.protocol = Some(one(protocol(value())?)),
            "-s" | "--source" | "--src" => found.src = Some(list(value(), "an address")?),
            "-d" | "--destination" | "--dst" => found.dst = Some(list(value(), "an address")?),
            "--sport" | "--source-port" | "--sports" | "--source-ports" => {
                found.sport = Some(ports(value())?);
            }
            "--dport" | "--destination-port" | "--dports" | "--destination-ports" => {
                found.dport = Some(ports(value())?);
            }
            "--dscp" | "--dscp-class" => found.dscp = Some(one(dscp(value())?)),
            "-o" | "--out-interface" => out = Some(value().to_owned()),
            "-j" | "--jump" => match value() {
                "MARK" => {}
                "RETURN" | "ACCEPT" => verdict = Some(Verdict::Ends),
                other => return unmodelled(format!("marks by `{other}` are not followed here")),
            },
            "--set-mark" | "--set-xmark" => verdict = Some(Verdict::Mark(mark(value())?)),
            other => {
                return unmodelled(format!(
                    "`{other}` is not followed here: say which packets the class gets (`match`)"
                ));
            }
        }
    }
    match verdict {
        Some(verdict) => Ok(Rule {
            matching: found,
            out,
            verdict,
        }),
        None => unmodelled("a rule that gives no mark of its own"),
    }
}

/// A rule of `nft` behind the name of the program.
fn nft(words: &[&str]) -> Result<Rule, Refusal> {
    // Sets are braces with commas, of which blanks are a part or not.
    let text = words.join(" ").replace(['{', '}'], " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let ["add" | "insert", "rule", rest @ ..] = &words[..] else {
        return unmodelled("only `nft add rule` is followed here");
    };
    if words[0] == "insert" {
        return unmodelled("rules that are put before others are not followed here");
    }
    let begin = |w: &&str| {
        [
            "ip", "ip6", "tcp", "udp", "th", "meta", "oifname", "counter",
        ]
        .contains(w)
    };
    // The family, the table and the chain stand before the conditions.
    let skipped = 2 + usize::from(
        rest.first()
            .is_some_and(|f| ["ip", "ip6", "inet", "netdev", "bridge", "arp"].contains(f)),
    );
    if rest.first() == Some(&"ip6") {
        return unmodelled("packets are those of IPv4 here");
    }
    let mut rest = rest.get(skipped..).unwrap_or_default();
    let mut found = MatchSpec::default();
    let (mut given, mut out) = (None, None);
    while let Some((first, after)) = rest.split_first() {
        // The first two belong to it, such as the protocol in `ip protocol tcp`.
        let next = after.iter().skip(2).position(begin);
        let end = next.map_or(after.len(), |n| n + 2);
        let (own, behind) = after.split_at(end);
        let values = own.get(1..).unwrap_or_default().join("");
        match (*first, own.first().copied()) {
            ("counter", _) => {
                rest = after;
                continue;
            }
            ("ip", Some("dscp")) => {
                let each = values.split(',').map(dscp).collect::<Result<_, _>>()?;
                found.dscp = Some(OneOrMany(each));
            }
            ("ip", Some("saddr")) => found.src = Some(list(&values, "an address")?),
            ("ip", Some("daddr")) => found.dst = Some(list(&values, "an address")?),
            ("ip", Some("protocol")) | ("meta", Some("l4proto")) => {
                let each = values.split(',').map(protocol).collect::<Result<_, _>>()?;
                found.protocol = Some(OneOrMany(each));
            }
            ("tcp" | "udp" | "th", Some(side @ ("sport" | "dport"))) => {
                if *first != "th" {
                    found.protocol = Some(one(protocol(first)?));
                }
                let key = match side {
                    "sport" => &mut found.sport,
                    _ => &mut found.dport,
                };
                *key = Some(ports(&values)?);
            }
            ("meta", Some("mark")) => given = Some(mark(values.trim_start_matches("set"))?),
            ("oifname", Some(name)) => {
                out = Some(name.trim_matches('"').to_owned());
                rest = &after[1..];
                continue;
            }
            _ => {
                return unmodelled(format!(
                    "`{first} {}` is not followed here: say which packets the class gets (`match`)",
                    own.join(" ")
                ));
            }
        }
        rest = behind;
    }
    match given {
        Some(mark) => Ok(Rule {
            matching: found,
            out,
            verdict: Verdict::Mark(mark),
        }),
        None => unmodelled("a rule that gives no mark of its own"),
    }
}

fn one<T>(value: T) -> OneOrMany<T> {
    OneOrMany(vec![value])
}

/// Values between commas.
fn list(text: &str, what: &str) -> Result<OneOrMany<NetSpec>, Refusal> {
    let each = text.split(',').map(|t| {
        let read = t.trim().parse::<NetSpec>().ok();
        read.map_or_else(|| unmodelled(format!("`{t}` is not {what} of IPv4")), Ok)
    });
    each.collect::<Result<_, _>>().map(OneOrMany)
}

/// Ports and ranges between commas.
fn ports(text: &str) -> Result<OneOrMany<PortRange>, Refusal> {
    let each = text.split(',').map(|t| {
        let read = t.trim().replace(':', "-").parse::<PortRange>().ok();
        read.map_or_else(
            || unmodelled(format!("`{t}` is not a port or a range of ports")),
            Ok,
        )
    });
    each.collect::<Result<_, _>>().map(OneOrMany)
}

fn protocol(text: &str) -> Result<Protocol, Refusal> {
    let read = text.trim().parse::<Protocol>().ok();
    read.map_or_else(|| unmodelled(format!("`{text}` is not a protocol")), Ok)
}

fn dscp(text: &str) -> Result<Dscp, Refusal> {
    let text = text.trim();
    let octet = |text| Dscp::new(u8::try_from(number(text)?).ok()?);
    let read = text.parse().ok().or_else(|| octet(text));
    read.map_or_else(|| unmodelled(format!("`{text}` is not a DSCP")), Ok)
}

/// A mark of which all bits count, such as `10` or `0xa/0xffffffff`.
pub(super) fn whole(text: &str) -> Option<u32> {
    let (value, mask) = text.split_once('/').unwrap_or((text, "0xffffffff"));
    number(value).filter(|_| number(mask) == Some(u32::MAX))
}

fn mark(text: &str) -> Result<u32, Refusal> {
    let why = || unmodelled(format!("`{text}` is not a mark of which all bits are set"));
    whole(text).map_or_else(why, Ok)
}
