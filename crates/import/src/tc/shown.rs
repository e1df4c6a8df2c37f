//! What `tc qdisc show`, `tc class show` and `tc filter show` print, as the commands that would
//! make it; with `-s` counters stand between the lines, which are passed.
//!
//! One of these says of its device only if it was asked of all; else the prompt before it does, as
//! in `# tc -s class show dev eth0`.

use super::shell::{Command, Word};

/// The device of a text that names none.
const UNNAMED: &str = "device";
/// Classes that are made by commands; others are there with their discipline.
const MADE: [&str; 4] = ["htb", "hfsc", "drr", "qfq"];

/// The commands of an output; none if it is none.
pub(super) fn commands(text: &str) -> Option<Vec<Command>> {
    let mut device = UNNAMED.to_owned();
    let mut records: Vec<Record<'_>> = Vec::new();
    let mut is_output = false;
    for (line, number) in text.lines().zip(1_u32..) {
        let words = split(line, number);
        let texts: Vec<&str> = words.iter().map(|w| w.0).collect();
        if let [object @ ("qdisc" | "class" | "filter"), ..] = texts[..] {
            is_output |= object == "qdisc" && texts.get(2).is_some_and(|h| h.ends_with(':'));
            records.push(Record {
                device: device.clone(),
                words,
                more: Vec::new(),
            });
        } else if texts.contains(&"tc") && texts.contains(&"dev") {
            let at = texts.iter().position(|t| *t == "dev").unwrap_or_default();
            device = texts.get(at + 1).map_or(device, |d| (*d).to_owned());
        } else if line.starts_with([' ', '\t']) {
            if let Some(record) = records.last_mut() {
                record.more.extend(words);
            }
        }
    }
    is_output.then(|| records.iter().filter_map(Record::command).collect())
}

/// A word, its line and its column.
type Place<'t> = (&'t str, u32, u32);

/// The words of a line.
fn split(line: &str, number: u32) -> Vec<Place<'_>> {
    let words = line.split_whitespace().map(|word| {
        let before = word.as_ptr() as usize - line.as_ptr() as usize;
        let column = line[..before].chars().count() + 1;
        (word, number, u32::try_from(column).unwrap_or(u32::MAX))
    });
    words.collect()
}

/// What is said of one object.
struct Record<'t> {
    device: String,
    words: Vec<Place<'t>>,
    /// The lines below it.
    more: Vec<Place<'t>>,
}

/// A command that is made.
struct Maker {
    words: Vec<Word>,
    line: u32,
    column: u32,
}

impl Maker {
    /// A word of its own.
    fn say(&mut self, text: &str) {
        self.words.push(Word {
            text: text.to_owned(),
            line: self.line,
            column: self.column,
            unknown: None,
        });
    }

    /// A word that stands there, or what is meant by it.
    fn copy(&mut self, (_, line, column): Place<'_>, text: impl Into<String>) {
        self.words.push(Word {
            text: text.into(),
            line,
            column,
            unknown: None,
        });
    }
}

impl Record<'_> {
    fn command(&self) -> Option<Command> {
        let (object, line, column) = *self.words.first()?;
        let mut made = Maker {
            words: Vec::new(),
            line,
            column,
        };
        for word in ["tc", object, "add", "dev"] {
            made.say(word);
        }
        let own = self.words.iter().position(|w| w.0 == "dev");
        let named = own.and_then(|at| self.words.get(at + 1));
        made.say(named.map_or(self.device.as_str(), |w| w.0));
        let rest: Vec<Place<'_>> = self.words[1..]
            .iter()
            .enumerate()
            .filter(|(i, _)| own.is_none_or(|at| i + 1 != at && i + 1 != at + 1))
            .map(|(_, w)| *w)
            .collect();
        let done = match object {
            "qdisc" => qdisc(&rest, &mut made),
            "class" => class(&rest, &mut made),
            _ => filter(&rest, &self.more, &mut made),
        };
        done.then_some(Command {
            words: made.words,
            inside: None,
        })
    }
}

/// `fq_codel 10: root refcnt 2 limit 10240p ...`
fn qdisc(rest: &[Place<'_>], made: &mut Maker) -> bool {
    let [kind, handle, rest @ ..] = rest else {
        return false;
    };
    made.say("handle");
    made.copy(*handle, handle.0);
    match kind.0 {
        "ingress" | "clsact" => {
            made.copy(*kind, kind.0);
            return true;
        }
        // A device that never queues.
        "noqueue" => return false,
        _ => {}
    }
    let rest = place(rest, made);
    made.copy(*kind, kind.0);
    options(rest, made);
    true
}

/// `htb 1:10 parent 1:1 leaf 10: prio 0 rate 1Mbit ...`
fn class(rest: &[Place<'_>], made: &mut Maker) -> bool {
    let [kind, handle, rest @ ..] = rest else {
        return false;
    };
    // The first of hfsc is the discipline itself.
    if !MADE.contains(&kind.0) || handle.0.ends_with(':') {
        return false;
    }
    made.say("classid");
    made.copy(*handle, handle.0);
    let rest = match rest {
        // At the top of its tree.
        [root, rest @ ..] if root.0 == "root" => rest,
        _ => place(rest, made),
    };
    made.copy(*kind, kind.0);
    options(rest, made);
    true
}

/// Takes the words that say where something is.
fn place<'r, 't>(rest: &'r [Place<'t>], made: &mut Maker) -> &'r [Place<'t>] {
    match rest {
        [root, rest @ ..] if root.0 == "root" => {
            made.copy(*root, "root");
            rest
        }
        [parent, of, rest @ ..] if parent.0 == "parent" => {
            made.copy(*parent, "parent");
            made.copy(*of, of.0);
            rest
        }
        _ => rest,
    }
}

/// Options as they are printed, as they are written.
fn options(rest: &[Place<'_>], made: &mut Maker) {
    let mut rest = rest.iter().copied();
    let mut last = "";
    while let Some(word) = rest.next() {
        match word.0 {
            "refcnt" | "direct_packets_stat" | "leaf" | "level" => {
                rest.next();
            }
            "offloaded" => {}
            "lat" => made.copy(word, "latency"),
            "m1" => {
                // A line has a first piece that lasts for no time.
                let piece = [rest.next(), rest.next(), rest.next()];
                if let [Some(slope), Some(d), Some(time)] = piece {
                    if time.0 != "0us" && time.0 != "0" {
                        for word in [word, slope, d, time] {
                            made.copy(word, word.0);
                        }
                    }
                }
            }
            text => made.copy(word, written(last, text)),
        }
        last = word.0;
    }
}

/// The value of an option as it is written: packets have no unit, and what is printed beside it is
/// left out.
fn written<'t>(option: &str, text: &'t str) -> &'t str {
    let number = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    let packets = text.strip_suffix('p').filter(|t| number(t));
    match (option, packets) {
        (_, Some(packets)) => packets,
        ("flows", None) => text.split('/').next().unwrap_or(text),
        ("perturb", None) => text.trim_end_matches("sec"),
        _ => text,
    }
}

/// `parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 ... flowid 1:10`, and lines of conditions
/// and actions.
fn filter(rest: &[Place<'_>], more: &[Place<'_>], made: &mut Maker) -> bool {
    let mut head = rest.iter().copied();
    let (mut kind, mut handle, mut leads) = (None, None, Vec::new());
    while let Some(word) = head.next() {
        match word.0 {
            "parent" | "protocol" | "pref" => {
                made.copy(word, word.0);
                if let Some(value) = head.next() {
                    made.copy(value, value.0);
                }
            }
            "root" | "ingress" | "egress" => made.copy(word, word.0),
            // Tables of u32 have no conditions.
            "ht" if head.next().is_some_and(|w| w.0 == "divisor") => return false,
            "ht" => {}
            "chain" | "order" | "bkt" | "in_hw_count" => {
                head.next();
            }
            "fh" | "handle" => handle = head.next(),
            "flowid" | "classid" => leads.extend([Some(word), head.next()].into_iter().flatten()),
            _ if kind.is_none() => kind = Some(word),
            _ => {}
        }
    }
    let (Some(kind), Some(handle)) = (kind, handle) else {
        return false;
    };
    if kind.0 == "fw" {
        made.say("handle");
        made.copy(handle, handle.0);
    }
    made.copy(kind, kind.0);
    conditions(more, made);
    for word in leads {
        made.copy(word, word.0);
    }
    true
}

/// Conditions and actions below a filter.
fn conditions(more: &[Place<'_>], made: &mut Maker) {
    let mut more = more.iter().copied();
    while let Some(word) = more.next() {
        let mut copy = |made: &mut Maker, count: usize| {
            made.copy(word, word.0);
            for value in more.by_ref().take(count) {
                made.copy(value, value.0);
            }
        };
        match word.0 {
            "match" => {
                if let Some((value, mask)) = more.next().and_then(|w| w.0.split_once('/')) {
                    for text in ["match", "u32", &format!("0x{value}"), mask] {
                        made.copy(word, text);
                    }
                }
            }
            "at" | "ip_proto" | "src_ip" | "dst_ip" | "src_port" | "dst_port" | "ip_tos"
            | "vlan_prio" | "rate" | "burst" => copy(made, 1),
            "police" => {
                made.copy(word, "police");
                more.next();
            }
            "drop" => made.copy(word, "drop"),
            "device" => {
                // mirred (Egress Redirect to device ifb0)
                if let Some(to) = more.next() {
                    let to = (to.0.trim_end_matches(')'), to.1, to.2);
                    for text in ["action", "mirred", "egress", "redirect", "dev", to.0] {
                        made.copy(to, text);
                    }
                }
            }
            _ => {}
        }
    }
}
