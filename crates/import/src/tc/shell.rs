//! A shell script to commands, and commands to words with places.
//!
//! What a shell would compute while it runs is not known here: values of `$1` or `$(...)`, and
//! whether a command inside `if`, `for` or a function runs at all. Variables that the script itself
//! sets are known, and so are whole numbers in `$((...))`.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::CharIndices;

/// Commands of a script; more are not read.
const MAX_COMMANDS: usize = 100_000;
/// The longest word, so that variables that hold each other cannot grow without a bound.
const LONGEST_WORD: usize = 4096;

/// A word and where it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// What it is, quotes and variables resolved.
    pub(super) text: String,
    /// Line, from 1.
    pub(super) line: u32,
    /// Column in characters, from 1.
    pub(super) column: u32,
    /// What of it only a running shell knows, as written.
    pub(super) unknown: Option<String>,
}

/// A command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    /// The word of the shell inside which it stands, such as `if`: it may or may not run.
    pub(super) inside: Option<String>,
}

impl Command {
    /// The line on which it begins.
    pub(super) fn line(&self) -> u32 {
        self.words.first().map_or(1, |w| w.line)
    }
}

/// The commands of a script, in order.
pub(super) fn commands(text: &str) -> Vec<Command> {
    let mut shell = Shell {
        chars: text.char_indices().peekable(),
        text,
        line: 1,
        line_start: 0,
        variables: BTreeMap::new(),
        open: Vec::new(),
        found: Vec::new(),
    };
    while shell.chars.peek().is_some() && shell.found.len() < MAX_COMMANDS {
        shell.command();
    }
    shell.found
}

struct Shell<'t> {
    chars: Peekable<CharIndices<'t>>,
    text: &'t str,
    line: u32,
    /// Where the line begins, in bytes.
    line_start: usize,
    variables: BTreeMap<String, Option<String>>,
    /// The words of the shell that have not ended.
    open: Vec<String>,
    found: Vec<Command>,
}

impl Shell<'_> {
    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, c)| *c)
    }

    fn next(&mut self) -> Option<char> {
        let (at, c) = self.chars.next()?;
        if c == '\n' {
            self.line += 1;
            self.line_start = at + 1;
        }
        Some(c)
    }

    /// Skips blanks and line breaks behind a backslash.
    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(c) if c != '\n' && c.is_whitespace() => {
                    self.next();
                }
                Some('\\') if self.rest().starts_with("\\\n") => {
                    self.next();
                    self.next();
                }
                Some('\\') if self.rest().starts_with("\\\r\n") => {
                    self.next();
                    self.next();
                    self.next();
                }
                _ => return,
            }
        }
    }

    fn rest(&mut self) -> &str {
        let at = self.chars.peek().map_or(self.text.len(), |(at, _)| *at);
        &self.text[at..]
    }

    /// Reads to the end of a command.
    fn command(&mut self) {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                None => break,
                // Parentheses stand behind the name of a function and a pattern of `case`, and
                // around a shell of its own.
                Some('\n' | ';' | '&' | '|' | '(' | ')') => {
                    self.next();
                    break;
                }
                Some('#') => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.next();
                    }
                }
                Some('<' | '>') => self.redirection(),
                Some(_) => {
                    let word = self.word();
                    let descriptor = word.text.chars().all(|c| c.is_ascii_digit());
                    if descriptor && matches!(self.peek(), Some('<' | '>')) {
                        self.redirection();
                    } else {
                        words.push(word);
                    }
                }
            }
        }
        self.finish(words);
    }

    fn redirection(&mut self) {
        while matches!(self.peek(), Some('<' | '>' | '&')) {
            self.next();
        }
        self.blanks();
        if self.peek().is_some_and(|c| !"\n;&|".contains(c)) {
            self.word();
        }
    }

    /// Keeps a command, after words of the shell and assignments before it.
    fn finish(&mut self, mut words: Vec<Word>) {
        while let Some(first) = words.first() {
            match first.text.as_str() {
                "if" | "for" | "while" | "until" | "case" | "select" | "function" | "{" => {
                    let word = words.remove(0).text;
                    let whole = ["for", "case", "select", "function"].contains(&word.as_str());
                    self.open.push(word);
                    if whole {
                        // What it counts or compares changes while the script runs.
                        if let Some(name) = words.first() {
                            self.variables.insert(name.text.clone(), None);
                        }
                        return;
                    }
                }
                "fi" | "done" | "esac" | "}" => {
                    self.open.pop();
                    words.remove(0);
                }
                "then" | "do" | "else" | "elif" | "!" | "sudo" | "export" | "local"
                | "readonly" | "+" | "++" | "+++" => {
                    words.remove(0);
                }
                _ => break,
            }
        }
        while let Some((name, value)) = words.first().and_then(assignment) {
            let known = words[0].unknown.is_none() && self.open.is_empty();
            let value = value.to_owned();
            self.variables
                .insert(name.to_owned(), known.then_some(value));
            words.remove(0);
        }
        if words.last().is_some_and(|w| w.text == "{") {
            self.open.push("{".to_owned());
            return;
        }
        if !words.is_empty() {
            self.found.push(Command {
                words,
                inside: self.open.last().map(|word| match word.as_str() {
                    "{" | "function" => "a function".to_owned(),
                    other => format!("`{other}`"),
                }),
            });
        }
    }

    /// Reads a word with its quotes and variables.
    fn word(&mut self) -> Word {
        let at = self.chars.peek().map_or(self.text.len(), |(at, _)| *at);
        let before = self.text[self.line_start..at].chars().count();
        let mut word = Word {
            line: self.line,
            column: u32::try_from(before + 1).unwrap_or(u32::MAX),
            ..Word::default()
        };
        while let Some(c) = self.peek() {
            match c {
                '\'' => {
                    self.next();
                    while let Some(c) = self.next() {
                        if c == '\'' {
                            break;
                        }
                        word.text.push(c);
                    }
                }
                '"' => {
                    self.next();
                    while let Some(c) = self.peek() {
                        match c {
                            '"' => {
                                self.next();
                                break;
                            }
                            '\\' => {
                                self.next();
                                word.text.extend(self.next());
                            }
                            '$' | '`' => self.substitute(&mut word),
                            _ => word.text.extend(self.next()),
                        }
                    }
                }
                '\\' => {
                    self.next();
                    match self.next() {
                        Some('\n') | None => {}
                        Some(c) => word.text.push(c),
                    }
                }
                '$' | '`' => self.substitute(&mut word),
                c if c.is_whitespace() || ";&|<>()".contains(c) => break,
                _ => word.text.extend(self.next()),
            }
            if word.text.len() > LONGEST_WORD {
                word.text.truncate(0);
                word.unknown.get_or_insert_with(|| "its length".to_owned());
            }
        }
        word
    }

    /// Puts what a variable or a number in `$((...))` stands for into a word.
    fn substitute(&mut self, word: &mut Word) {
        let written = self.rest().to_owned();
        let first = self.next();
        let (value, length) = match (first, written.as_bytes().get(1)) {
            (Some('`'), _) => (
                None,
                written[1..].find('`').map_or(written.len(), |n| n + 2),
            ),
            (_, Some(b'(')) => {
                let length = closed(&written[1..], '(', ')') + 1;
                let inner = written.get(1..length).unwrap_or_default();
                let sum = inner.strip_prefix("((").and_then(|i| i.strip_suffix("))"));
                let value = sum.and_then(|s| Sum::new(s, &self.variables).value());
                (value.map(|v| v.to_string()), length)
            }
            (_, Some(b'{')) => {
                let length = closed(&written[1..], '{', '}') + 1;
                let inner = written.get(2..length - 1).unwrap_or_default();
                let (name, default) = inner.split_once(":-").unwrap_or((inner, ""));
                let value = match self.variables.get(name) {
                    Some(known) => known.clone(),
                    None if name != inner && !default.contains('$') => Some(default.to_owned()),
                    None => None,
                };
                (value, length)
            }
            (_, Some(c)) if c.is_ascii_alphabetic() || *c == b'_' => {
                let name: &str = &written[1..];
                let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let name = &name[..end.unwrap_or(name.len())];
                (self.variables.get(name).cloned().flatten(), name.len() + 1)
            }
            (_, Some(c)) if c.is_ascii() => (None, 2),
            _ => (Some("$".to_owned()), 1),
        };
        // What was looked at is passed, whatever line breaks are in it.
        let whole = written.get(..length).unwrap_or(&written).to_owned();
        for _ in whole.chars().skip(1) {
            self.next();
        }
        match value {
            Some(value) => word.text.push_str(&value),
            None => {
                word.unknown.get_or_insert(whole);
            }
        }
    }
}

/// The name and value of an assignment.
fn assignment(word: &Word) -> Option<(&str, &str)> {
    let (name, value) = word.text.split_once('=')?;
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (plain && begins).then_some((name, value))
}

/// The bytes of a text that begins with `open`, to the character that closes it.
fn closed(text: &str, open: char, close: char) -> usize {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return at + c.len_utf8();
            }
        }
    }
    text.len()
}

/// Whole numbers with `+ - * / %` and parentheses.
struct Sum<'s> {
    chars: Peekable<std::str::Chars<'s>>,
    variables: &'s BTreeMap<String, Option<String>>,
    /// Parentheses within each other.
    depth: u32,
}

impl<'s> Sum<'s> {
    fn new(text: &'s str, variables: &'s BTreeMap<String, Option<String>>) -> Self {
        Self {
            chars: text.chars().peekable(),
            variables,
            depth: 0,
        }
    }

    /// The value; none if it is not known.
    fn value(mut self) -> Option<i64> {
        let value = self.sum()?;
        self.blanks();
        self.chars.peek().is_none().then_some(value)
    }

    fn blanks(&mut self) {
        while self.chars.next_if(|c| c.is_whitespace()).is_some() {}
    }

    fn operator(&mut self, which: &str) -> Option<char> {
        self.blanks();
        self.chars.next_if(|c| which.contains(*c))
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        while let Some(op) = self.operator("+-") {
            let other = self.product()?;
            value = match op {
                '+' => value.checked_add(other)?,
                _ => value.checked_sub(other)?,
            };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.factor()?;
        while let Some(op) = self.operator("*/%") {
            let other = self.factor()?;
            value = match op {
                '*' => value.checked_mul(other)?,
                '/' => value.checked_div(other)?,
                _ => value.checked_rem(other)?,
            };
        }
        Some(value)
    }

    fn factor(&mut self) -> Option<i64> {
        if self.operator("(").is_some() {
            self.depth += 1;
            if self.depth > 64 {
                return None;
            }
            let value = self.sum()?;
            self.depth -= 1;
            return self.operator(")").map(|_| value);
        }
        self.operator("$");
        let braced = self.operator("{").is_some();
        let mut word = String::new();
        let part = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        while let Some(c) = self.chars.next_if(part) {
            word.push(c);
        }
        if braced && self.operator("}").is_none() {
            return None;
        }
        match word.starts_with(|c: char| c.is_ascii_digit()) {
            true => word.parse().ok(),
            false => self.variables.get(&word)?.as_ref()?.trim().parse().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        let texts = |c: Command| c.words.into_iter().map(|w| w.text).collect();
        commands(text).into_iter().map(texts).collect()
    }

    #[test]
    fn variables_quotes_and_sums_are_resolved() {
        let script = "#!/bin/sh\nDEV=eth0; RATE=10\nTC=\"tc\"\n$TC qdisc add dev ${DEV} root \\\n  tbf rate $((RATE * 9 / (1+1)))kbit burst '5 k' # why\nTWO=$X tc x\n";
        assert_eq!(
            words(script),
            [
                vec![
                    "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "45kbit", "burst",
                    "5 k"
                ],
                vec!["tc", "x"],
            ]
        );
    }

    #[test]
    fn redirections_and_lists_end_commands() {
        assert_eq!(
            words("tc a 2>/dev/null || true && tc b >>log 2>&1 ; tc c|cat"),
            [
                vec!["tc", "a"],
                vec!["true"],
                vec!["tc", "b"],
                vec!["tc", "c"],
                vec!["cat"]
            ]
        );
    }

    #[test]
    fn what_only_a_running_shell_knows_is_named() {
        let found = commands("tc a dev $1\nR=$(cat f)\ntc b ${R}k\ntc c ${Z:-5}k");
        let unknown = |n: usize| found[n].words.last().and_then(|w| w.unknown.clone());
        assert_eq!(unknown(0).as_deref(), Some("$1"));
        assert_eq!(unknown(1).as_deref(), Some("${R}"));
        assert_eq!(unknown(2), None);
        assert_eq!(found[2].words[2].text, "5k");
    }

    #[test]
    fn commands_inside_control_words_say_so() {
        let script = "if [ -n \"$A\" ]; then\n tc a\nfi\nstart() {\n tc b\n}\nfor i in 1 2; do tc c $i; done\ntc d";
        let tc: Vec<_> = commands(script)
            .into_iter()
            .filter(|c| c.words[0].text == "tc")
            .map(|c| {
                (
                    c.words[1].text.clone(),
                    c.inside,
                    c.words.get(2).and_then(|w| w.unknown.clone()),
                )
            })
            .collect();
        let some = |s: &str| Some(s.to_owned());
        assert_eq!(
            tc,
            [
                ("a".to_owned(), some("`if`"), None),
                ("b".to_owned(), some("a function"), None),
                ("c".to_owned(), some("`for`"), some("$i")),
                ("d".to_owned(), None, None),
            ]
        );
    }

    #[test]
    fn places_count_characters_and_lines() {
        let found = commands("tc ä é\\\n  b");
        let places: Vec<_> = found[0].words.iter().map(|w| (w.line, w.column)).collect();
        assert_eq!(places, [(1, 1), (1, 4), (1, 6), (2, 3)]);
        assert_eq!(found[0].words[2].text, "é");
    }
}
