//! What a terminal session leaves in a configuration that was copied from it: prompts, commands
//! that are none of the configuration, messages, and lines broken at the terminal's width.

use super::globals::GLOBALS;
use super::keyword::{Found, abbreviates, find};
use super::lexer::{Line, Word, lines};

/// What a line of a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noise {
    /// A message: the session is where it was.
    Message,
    /// A command outside configuration mode: whatever block was open is left.
    Exec,
}

/// Beginnings of messages that no command begins with.
const MESSAGES: [&str; 16] = [
    "[OK]",
    "Building configuration",
    "Connected to ",
    "Connection closed by",
    "Current configuration",
    "Destination filename",
    "Enter configuration commands",
    "Escape character is",
    "Load for five secs",
    "No time source",
    "Password:",
    "Time source is",
    "Trying ",
    "User Access Verification",
    "Username:",
    "Using ",
];

/// What a line is that belongs to a session and not to a configuration.
pub(crate) fn noise(line: &Line<'_>) -> Option<Noise> {
    let text = line.text();
    if text.bytes().all(|b| b == b'^') || text.starts_with('%') || is_log(text) {
        return Some(Noise::Message);
    }
    if line.depth > 0 {
        return None;
    }
    let bytes = |m: &str| m != "Using " || text.ends_with("bytes");
    if MESSAGES.iter().any(|m| text.starts_with(m) && bytes(m)) {
        return Some(Noise::Message);
    }
    let mut words = line.words();
    let first = words.next()?;
    (is_prompt(first) || is_exec(first, words.next())).then_some(Noise::Exec)
}

/// `%FACILITY-SEVERITY-MNEMONIC:` behind a time, as logs have it.
fn is_log(text: &str) -> bool {
    let message = text.split_once(": %").map_or("", |(_, rest)| rest);
    let name = message.split_once(':').map_or("", |(name, _)| name);
    let mut parts = name.rsplit('-');
    let upper = |p: &str| {
        !p.is_empty()
            && p.bytes()
                .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    };
    let first = text.split_whitespace().next().unwrap_or_default();
    parts.next().is_some_and(upper)
        && parts
            .next()
            .is_some_and(|p| matches!(p.as_bytes(), [b'0'..=b'7']))
        && parts.next().is_some()
        && !["description", "remark"].contains(&first)
}

/// `R1#`, `R1>`, `RP/0/RSP0/CPU0:r1#`, with or without a command behind.
fn is_prompt(word: Word<'_>) -> bool {
    let host = word
        .text
        .find(['#', '>'])
        .map_or("", |end| &word.text[..end]);
    host.starts_with(|c: char| c.is_ascii_alphabetic())
        && host
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.:/".contains(&b))
}

/// `configure terminal`, `write memory`, `show running-config` and `copy running-config ...`, which
/// a session without prompts has.
fn is_exec(first: Word<'_>, second: Option<Word<'_>>) -> bool {
    let first = first.text;
    match second.map(|w| w.text) {
        None => first == "wr" || first == "write",
        Some(w) => {
            (abbreviates(first, "configure", 4) && abbreviates(w, "terminal", 1))
                || (abbreviates(first, "write", 2) && abbreviates(w, "memory", 3))
                || (abbreviates(first, "show", 2) && abbreviates(w, "running-config", 3))
                || (first == "copy" && abbreviates(w, "running-config", 3))
        }
    }
}

/// Shorter lines are not taken for broken ones: no terminal is so narrow.
const NARROW: usize = 60;

/// Whether a line may be the rest of the one before it: it begins with no command.
pub(crate) fn may_continue(line: &Line<'_>, before: &Line<'_>) -> bool {
    line.depth == 0
        && line.number == before.number + 1
        && before.raw().chars().count() >= NARROW
        && line.words().next().is_some_and(|w| {
            !w.text.eq_ignore_ascii_case("no")
                && matches!(find(&GLOBALS, w.text), Found::None | Found::Ambiguous(_))
        })
}

/// Whether some line of a text may be the rest of the one before it.
pub(crate) fn may_be_wrapped(text: &str) -> bool {
    let pairs = lines(text).zip(lines(text).skip(1));
    pairs.into_iter().any(|(a, b)| may_continue(&b, &a))
}

/// The text with the lines of these numbers put behind those before them, and empty themselves.
pub(crate) fn join(text: &str, rest: &[u32]) -> String {
    let all = text.split('\n').map(|l| l.trim_end_matches('\r'));
    let width = all.clone().map(|l| l.chars().count()).max().unwrap_or(0);
    let mut joined = String::with_capacity(text.len() + rest.len());
    let mut blanks = 0;
    let mut last = 0;
    for (number, line) in (1_u32..).zip(all) {
        if rest.binary_search(&number).is_ok() {
            // Where the terminal broke it, nothing is missing; where a mail program did, a blank.
            if ![80, 132, width].contains(&last) {
                joined.push(' ');
            }
            blanks += 1;
        } else {
            (0..=blanks).for_each(|_| joined.push('\n'));
            blanks = 0;
        }
        joined.push_str(line);
        last = line.chars().count();
    }
    (0..blanks).for_each(|_| joined.push('\n'));
    // Each line began with the break before it.
    joined.remove(0);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Noise> {
        noise(&lines(text).next().unwrap())
    }

    #[test]
    fn what_is_left_of_a_session_is_known() {
        for text in [
            "Building configuration...",
            "Current configuration : 1234 bytes",
            "Using 1234 out of 29688 bytes",
            "Enter configuration commands, one per line.  End with CNTL/Z.",
            "                    ^",
            "% Invalid input detected at '^' marker.",
            "*Mar  1 00:12:03.123: %LINEPROTO-5-UPDOWN: Line protocol on Interface Serial0/0",
            "000123: Jan  2 10:00:00 CET: %SYS-5-CONFIG_I: Configured from console",
            "%LINK-3-UPDOWN: Interface GigabitEthernet0/0, changed state to up",
            "Password: ",
        ] {
            assert_eq!(of(text), Some(Noise::Message), "{text}");
        }
        for text in [
            "R1#",
            "R1>enable",
            "r1.example.net#show running-config",
            "RP/0/RSP0/CPU0:r1#conf t",
            "configure terminal",
            "conf t",
            "wr",
            "write mem",
            "sh run",
        ] {
            assert_eq!(of(text), Some(Noise::Exec), "{text}");
        }
        for text in [
            "conform-action transmit",
            "conform-color A",
            " description see #12: %LINK-3-UPDOWN: often",
            "banner motd # hello #",
            "using",
            "wrr-queue bandwidth 1 2",
            "show",
            "",
        ] {
            let line = lines(text).next().unwrap();
            assert!(line.is_blank() || noise(&line).is_none(), "{text}");
        }
    }

    #[test]
    fn lines_are_joined_and_keep_their_numbers() {
        let wide = "x".repeat(80);
        let narrow = "y".repeat(70);
        let text = format!("a\r\n{wide}\r\nb\r\nc\r\n{narrow}\r\nd\ne");
        let got = join(&text, &[3, 4, 6]);
        // The first rest is shorter than the width: what follows it was broken elsewhere.
        assert_eq!(got, format!("a\n{wide}b c\n\n\n{narrow} d\n\ne"));
        assert_eq!(join("a", &[]), "a");
        assert_eq!(join("a\nb\nccc", &[2]), "a b\n\nccc");
        assert_eq!(join("aaa\nb", &[2]), "aaab\n");
    }
}
