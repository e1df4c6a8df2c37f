//! The meaning of one line of the output.

/// A line without the additions of terminals.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShowLine<'a> {
    pub(super) number: u32,
    /// Columns of space before the text.
    pub(super) indent: usize,
    /// Column of the text, from 1.
    pub(super) column: u32,
    pub(super) text: &'a str,
}

/// The meaning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statement<'a> {
    /// Of a circuit of ATM with its VPI/VCI.
    Interface(&'a str, Option<&'a str>),
    Policy {
        direction: Option<&'static str>,
        name: &'a str,
    },
    Class(&'a str),
    /// IOS XR: the interface stands in the line of its policy.
    InterfacePolicy {
        interface: &'a str,
        direction: &'static str,
        name: &'a str,
    },
    /// IOS XR: a class, and the policy within a class that it belongs to.
    PolicyClass {
        policy: Option<&'a str>,
        name: &'a str,
    },
    /// IOS XR: what a class was offered, in packets, bytes and bit/s.
    Matched {
        packets: u64,
        bytes: u64,
        rate: Option<u64>,
    },
    /// IOS XR: what a class dropped, in packets and bit/s.
    Dropped {
        packets: u64,
        rate: Option<u64>,
    },
    /// IOS XR: packets that wait.
    Depth(u64),
    Match(&'a str),
    Counters {
        packets: u64,
        bytes: u64,
    },
    Rates {
        seconds: u64,
        offered: u64,
        dropped: Option<u64>,
    },
    Queue {
        depth: u64,
        drops: u64,
        no_buffer: Option<u64>,
    },
    /// Packets that a priority class dropped above its rate.
    Exceeded(u64),
    Other,
}

impl<'a> ShowLine<'a> {
    pub(super) fn of(number: u32, raw: &'a str) -> Self {
        // A pager overwrites itself with backspaces; what follows the last one is the line.
        let raw = raw.rsplit('\u{8}').next().unwrap_or(raw);
        let raw = raw
            .trim_start_matches(" --More-- ")
            .trim_start_matches("--More--");
        let text = raw.trim();
        let start = raw.len() - raw.trim_start().len();
        let indent = raw[..start]
            .chars()
            .map(|c| if c == '\t' { 8 } else { 1 })
            .sum();
        let column = u32::try_from(raw[..start].chars().count() + 1).unwrap_or(1);
        Self {
            number,
            indent,
            column,
            text,
        }
    }

    /// The meaning of the line.
    ///
    /// # Errors
    /// A number that is missing or does not fit 64 bits: the text in question.
    pub(super) fn said(&self) -> Result<Statement<'a>, String> {
        let text = self.text;
        if let Some(rest) = text.strip_prefix("Service-policy") {
            return Ok(policy(rest));
        }
        if let Some(rest) = text.strip_prefix("Class-map:") {
            return Ok(Statement::Class(
                rest.split_whitespace().next().unwrap_or(""),
            ));
        }
        if let Some(rest) = text.strip_prefix("Match:") {
            return Ok(Statement::Match(rest.trim()));
        }
        if text.contains(" offered rate ") {
            return rates(text);
        }
        if let Some(rest) = text.strip_prefix("(queue depth/total drops/no-buffer drops") {
            return queue(text, rest);
        }
        if let Some(rest) = text.strip_prefix("(depth/total drops/no-buffer drops") {
            return queue(text, rest);
        }
        if let Some((_, drops)) = text.split_once("b/w exceed drops:") {
            return number(drops.trim(), text).map(Statement::Exceeded);
        }
        if let Some(rest) = text.strip_prefix("(total drops/bytes drops)") {
            let drops = rest.split('/').next().unwrap_or("");
            return number(drops.trim(), text).map(Statement::Exceeded);
        }
        if let Some(said) = counters(text)? {
            return Ok(said);
        }
        if let Some(said) = xr(text)? {
            return Ok(said);
        }
        Ok(interface(text).map_or(Statement::Other, |(name, vc)| {
            Statement::Interface(name, vc)
        }))
    }
}

/// A line of IOS XR.
fn xr(text: &str) -> Result<Option<Statement<'_>>, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let said = match words[..] {
        ["Class", name] => Statement::PolicyClass { policy: None, name },
        ["Policy", policy, "Class", name] => Statement::PolicyClass {
            policy: Some(policy),
            name,
        },
        [place, direction @ ("input:" | "output:"), name] => {
            let Some((interface, _)) = interface(place) else {
                return Ok(None);
            };
            Statement::InterfacePolicy {
                interface,
                direction: if direction == "input:" {
                    "input"
                } else {
                    "output"
                },
                name,
            }
        }
        ["Matched", ":", ref numbers @ ..] => {
            let Some((packets, bytes, rate)) = statistics(numbers, text)? else {
                return Ok(Some(Statement::Other));
            };
            Statement::Matched {
                packets,
                bytes,
                rate,
            }
        }
        ["Total", "Dropped", ":", ref numbers @ ..] => {
            let Some((packets, _, rate)) = statistics(numbers, text)? else {
                return Ok(Some(Statement::Other));
            };
            Statement::Dropped { packets, rate }
        }
        ["Inst-queue-len", "(packets)", ":", depth] if depth != "N/A" => {
            Statement::Depth(number(depth, text)?)
        }
        _ => return Ok(None),
    };
    Ok(Some(said))
}

/// `638/42108 10`: packets, bytes, and a rate in kbit/s, which some lines lack; none of `N/A`.
fn statistics(numbers: &[&str], text: &str) -> Result<Option<(u64, u64, Option<u64>)>, String> {
    let (counts, rate) = match numbers {
        ["N/A", ..] => return Ok(None),
        [counts] => (counts, None),
        [counts, "N/A"] => (counts, None),
        [counts, rate] => (counts, Some(number(rate, text)?)),
        _ => return Err(text.to_owned()),
    };
    let (packets, bytes) = counts.split_once('/').ok_or(text)?;
    let rate = rate.map(|r| r.checked_mul(1000).ok_or(text)).transpose()?;
    Ok(Some((number(packets, text)?, number(bytes, text)?, rate)))
}

fn number(word: &str, text: &str) -> Result<u64, String> {
    word.parse().map_err(|_| text.to_owned())
}

/// ` output: WAN (1032)`, ` : CHILD`.
fn policy(rest: &str) -> Statement<'_> {
    let Some((direction, name)) = rest.split_once(':') else {
        return Statement::Other;
    };
    let direction = match direction.trim() {
        "output" => Some("output"),
        "input" => Some("input"),
        "" => None,
        _ => return Statement::Other,
    };
    let name = name.split_whitespace().next().unwrap_or("");
    Statement::Policy { direction, name }
}

/// `123 packets, 4567 bytes`.
fn counters(text: &str) -> Result<Option<Statement<'_>>, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [packets, "packets,", bytes, "bytes"] = words[..] else {
        return Ok(None);
    };
    Ok(Some(Statement::Counters {
        packets: number(packets, text)?,
        bytes: number(bytes, text)?,
    }))
}

/// `5 minute offered rate 1234 bps, drop rate 0000 bps`.
fn rates(text: &str) -> Result<Statement<'_>, String> {
    let (head, tail) = text.split_once(" offered rate ").unwrap_or((text, ""));
    let words: Vec<&str> = head.split_whitespace().collect();
    let [count, unit] = words[..] else {
        return Ok(Statement::Other);
    };
    let unit = match unit.trim_end_matches('s') {
        "second" | "sec" => 1,
        "minute" | "min" => 60,
        _ => return Err(text.to_owned()),
    };
    let seconds = number(count, text)?.checked_mul(unit);
    let (offered, dropped) = match tail.split_once(", drop rate ") {
        Some((offered, dropped)) => (offered, Some(rate(dropped, text)?)),
        None => (tail, None),
    };
    Ok(Statement::Rates {
        seconds: seconds.ok_or(text)?,
        offered: rate(offered, text)?,
        dropped,
    })
}

/// `1234 bps`, also with a prefix.
fn rate(words: &str, text: &str) -> Result<u64, String> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let [value, unit] = words[..] else {
        return Err(text.to_owned());
    };
    let factor = match unit {
        "bps" => 1,
        "kbps" | "Kbps" => 1_000,
        "mbps" | "Mbps" => 1_000_000,
        "gbps" | "Gbps" => 1_000_000_000,
        _ => return Err(text.to_owned()),
    };
    number(value, text)?
        .checked_mul(factor)
        .ok_or_else(|| text.to_owned())
}

/// `) 0/12/0`, with flow drops a fourth number.
fn queue<'a>(text: &str, rest: &str) -> Result<Statement<'a>, String> {
    let (_, values) = rest.split_once(')').ok_or(text)?;
    let mut values = values.trim().split('/');
    let mut next = || values.next().map(|v| number(v.trim(), text)).transpose();
    let (depth, drops) = (next()?.ok_or(text)?, next()?.ok_or(text)?);
    Ok(Statement::Queue {
        depth,
        drops,
        no_buffer: next()?,
    })
}

/// A line that is the name of an interface: one word of letters, then a number, such as
/// `GigabitEthernet0/0/1.100` or `Port-channel1`; `ATM1/0: VC 1/32` has more.
fn interface(text: &str) -> Option<(&str, Option<&str>)> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let (name, vc) = match words.next() {
        None => (first.trim_end_matches(':'), None),
        Some("VC") => (first.strip_suffix(':')?, words.find(|w| w.contains('/'))),
        Some("DLCI") => (first.strip_suffix(':')?, None),
        Some(_) => return None,
    };
    let digits = name.find(|c: char| c.is_ascii_digit())?;
    let (kind, place) = name.split_at(digits);
    let fits = kind.len() >= 2
        && kind.starts_with(|c: char| c.is_ascii_uppercase())
        && kind.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
        && place
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '/' | '.' | ':'));
    let vc = vc.filter(|w| w.chars().all(|c| c.is_ascii_digit() || c == '/'));
    fits.then_some((name, vc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_told_from_other_lines() {
        for name in [
            "GigabitEthernet0/0/1.100",
            "Port-channel1",
            "Serial0/0:15",
            "Vlan10",
        ] {
            assert_eq!(interface(name), Some((name, None)));
        }
        let circuit = Some(("ATM1/0.1", Some("1/32")));
        assert_eq!(interface("ATM1/0.1: VC 1/32 -"), circuit);
        assert_eq!(interface("ATM1/0.1: VC branch 1/32 -"), circuit);
        for other in [
            "Queueing",
            "queue limit 64 packets",
            "c1",
            "rtr01#",
            "0/0",
            "police:",
            "af31",
        ] {
            assert_eq!(interface(other), None);
        }
    }

    #[test]
    fn numbers_must_be_whole() {
        let said = |t: &'static str| ShowLine::of(1, t).said();
        assert_eq!(
            said("  30 second offered rate 12 kbps, drop rate 0000 bps"),
            Ok(Statement::Rates {
                seconds: 30,
                offered: 12_000,
                dropped: Some(0)
            })
        );
        assert_eq!(
            said("(queue depth/total drops/no-buffer drops/flowdrops) 1/2/3/4"),
            Ok(Statement::Queue {
                depth: 1,
                drops: 2,
                no_buffer: Some(3)
            })
        );
        for cut in [
            "5 minute offered rate 12",
            "5 minute offered rate 12 bps, drop rate",
            "5 minute offered rate 12 bps, drop rate 99999999999999999999999 bps",
            "(queue depth/total drops/no-buffer drops) 1/",
            "Priority: 30%, b/w exceed drops: ",
            "x packets, 7 bytes",
        ] {
            assert!(said(cut).is_err(), "{cut}");
        }
    }
}
