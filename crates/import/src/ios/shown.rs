//! Output of `show policy-map` and its kin between the lines of a configuration: not read, and
//! said.

use super::lexer::Line;

/// What a line of such an output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Begins a policy or class-map, and with it an output.
    Head,
    /// A class of a policy.
    Class,
}

/// Why its lines have no effect.
pub(crate) const REASON: &str = "output of a `show` command: it and what is below it are not read; give the lines of `show running-config`";

/// What a line of a `show` command begins: `Policy Map WAN`, `Class Map match-any VOICE (id 1)`,
/// `Service-policy output: WAN`, `Class-map: VOICE (match-any)`, `Class VOICE`.
pub(crate) fn shown(line: &Line<'_>) -> Option<Shown> {
    let mut words = line.words().map(|w| w.text);
    let (first, second) = (words.next()?, words.next()?);
    match (first, second) {
        ("Policy", "Map") | ("Class", "Map") => words.next().map(|_| Shown::Head),
        ("Service-policy" | "service-policy", w) if w.ends_with(':') => Some(Shown::Head),
        ("Class-map:", _) | ("Class", _) => Some(Shown::Class),
        _ => None,
    }
}
