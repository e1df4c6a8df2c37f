//! Errors of deserialization, before they become diagnostics.

use std::fmt::{self, Display};

use serde::de::{Expected, Unexpected};

use crate::codes;
use crate::error::Diagnostic;
use crate::node::{Node, Span, Step};
use crate::text::Texts;
use spillgate_core::suggest::{did_you_mean, list, nearest};

/// An error on its way from the value to the root; steps and place are added on the way.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    pub(crate) found: Option<String>,
    pub(crate) hint: Option<String>,
    pub(crate) span: Option<Span>,
    /// From the innermost step outwards.
    pub(crate) steps: Vec<Step>,
}

/// The kind of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An unknown key, with the known key that is probably intended.
    UnknownField(Option<String>),
    /// A missing key, with its name.
    MissingField(String),
    UnknownVariant,
    WrongType,
    Value,
    /// Something that was reported before.
    Pruned,
}

impl Error {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            found: None,
            hint: None,
            span: None,
            steps: Vec::new(),
        }
    }

    fn missing(field: &str) -> Self {
        Self::new(
            Kind::MissingField(field.to_owned()),
            format!("the key `{field}` is missing"),
        )
        .hint(format!("add `{field}: ...`"))
    }

    fn expected(kind: Kind, exp: &dyn Expected) -> Self {
        let what = expected(exp);
        let hint = how_to_write(&what);
        Self::new(kind, format!("expected {what}")).hint(hint)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Fills in the place and the text there, unless they are known.
    pub(crate) fn at(mut self, node: &Node) -> Self {
        // A missing key is shown at the mapping that lacks it.
        if self.span.is_none() && !matches!(self.kind, Kind::MissingField(_)) {
            self.span = Some(node.span);
            if self.found.is_none() && !matches!(self.kind, Kind::UnknownField(_)) {
                self.found = Some(node.describe());
            }
        }
        self
    }

    /// Fills in the place of a key unless a place is known.
    pub(crate) fn at_key(mut self, span: Span) -> Self {
        if self.span.is_none() {
            self.span = Some(span);
        }
        self
    }

    /// Notes the step that leads to where the error is.
    pub(crate) fn under(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// The steps from the root.
    pub(crate) fn path(&self) -> Vec<Step> {
        self.steps.iter().rev().cloned().collect()
    }

    /// The diagnostic, `root` being where the steps begin.
    pub(crate) fn report(self, texts: &Texts, root: &Node, base: &[Step]) -> Diagnostic {
        let code = match self.kind {
            Kind::UnknownField(_) => codes::UNKNOWN_KEY,
            Kind::MissingField(_) => codes::MISSING_KEY,
            Kind::UnknownVariant => codes::UNKNOWN_KIND,
            Kind::WrongType => codes::WRONG_TYPE,
            Kind::Value | Kind::Pruned => codes::BAD_VALUE,
        };
        let mut path = base.to_vec();
        path.extend(self.path());
        let span = self.span.unwrap_or(root.span);
        let mut d = texts.place(Diagnostic::error(code, self.message), span, &path);
        d.found = self.found;
        d.hint = self.hint;
        d
    }
}

/// Replaces Rust's names of types by words for the author of a scenario.
fn plain_words(expected: &str) -> String {
    match expected {
        "u8" => "a whole number from 0 to 255".to_owned(),
        "u16" => "a whole number from 0 to 65535".to_owned(),
        "u32" => "a whole number from 0 to 4294967295".to_owned(),
        "u64" | "usize" => "a whole number from 0".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "a text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a mapping".to_owned(),
        other => match other.split_once(' ') {
            Some(("struct", _)) => "a mapping of keys to values".to_owned(),
            Some(("enum" | "variant", _)) => "the name of a kind".to_owned(),
            Some(("newtype", _)) => "a mapping of keys to values".to_owned(),
            _ => other.to_owned(),
        },
    }
}

fn expected(exp: &dyn Expected) -> String {
    struct Shown<'a>(&'a dyn Expected);
    impl Display for Shown<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
    }
    plain_words(&Shown(exp).to_string())
}

/// An example of what was expected.
fn how_to_write(what: &str) -> String {
    match what {
        "true or false" => "write true or false (`yes` and `on` are texts in YAML 1.2)".to_owned(),
        "a number" => "write a number without quotes or unit, such as 0.5".to_owned(),
        "a text" => "write a text; put one that looks like a number in quotes".to_owned(),
        "a list" => "write `[x, y]`, or one item per line after `- `".to_owned(),
        "a mapping" | "a mapping of keys to values" => {
            "write `{key: value}`, or one `key: value` per line, indented".to_owned()
        }
        w if w.starts_with("a whole number") => {
            "write digits without quotes or unit, such as 10".to_owned()
        }
        w => format!("write {w}"),
    }
}

impl serde::de::Error for Error {
    /// Takes the messages of unit parsers apart: `` `found`: problem; hint ``.
    fn custom<T: Display>(msg: T) -> Self {
        let text = msg.to_string();
        // For a missing field serde asks the field's type for a default. Types that read text pass
        // the resulting error on as a message.
        if let Some(field) = text
            .strip_prefix("the key `")
            .and_then(|t| t.strip_suffix("` is missing"))
        {
            return Self::missing(field);
        }
        if let Some((found, rest)) = text.strip_prefix('`').and_then(|t| t.split_once("`: ")) {
            let (problem, hint) = rest.split_once("; ").unwrap_or((rest, ""));
            let mut e = Self::new(Kind::Value, problem);
            e.found = Some(found.to_owned());
            e.hint = (!hint.is_empty()).then(|| hint.to_owned());
            return e;
        }
        // A wrong type takes the same detour.
        if let Some(what) = text.strip_prefix("expected ") {
            return Self::new(Kind::Value, text.clone()).hint(how_to_write(what));
        }
        match text.split_once(": ") {
            Some((problem, hint)) if problem.starts_with('`') => {
                Self::new(Kind::Value, problem).hint(hint)
            }
            _ => Self::new(Kind::Value, text),
        }
    }

    fn invalid_type(_: Unexpected<'_>, exp: &dyn Expected) -> Self {
        Self::expected(Kind::WrongType, exp)
    }

    fn invalid_value(_: Unexpected<'_>, exp: &dyn Expected) -> Self {
        Self::expected(Kind::Value, exp)
    }

    fn invalid_length(n: usize, exp: &dyn Expected) -> Self {
        Self::new(
            Kind::Value,
            format!("{n} items, expected {}", expected(exp)),
        )
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        let near = did_you_mean(variant, known.iter().copied());
        let mut e = Self::new(
            Kind::UnknownVariant,
            format!("`{variant}` is not known here{near}"),
        )
        .hint(format!("one of: {}", list(known.iter().copied())));
        e.found = Some(variant.to_owned());
        e
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        let near = did_you_mean(field, known.iter().copied());
        let meant = nearest(field, known.iter().copied()).map(str::to_owned);
        let mut e = Self::new(
            Kind::UnknownField(meant),
            format!("unknown key `{field}`{near}"),
        )
        .hint(format!(
            "keys that are known here: {}",
            list(known.iter().copied())
        ));
        e.found = Some(field.to_owned());
        e
    }

    fn missing_field(field: &'static str) -> Self {
        Self::missing(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::custom(format_args!("the key `{field}` occurs twice"))
    }
}

impl Display for Error {
    /// The message so that [`serde::de::Error::custom`] can take it apart again:
    /// some visitors pass errors on as text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.found, &self.hint) {
            (Some(found), Some(hint)) if self.kind == Kind::Value => {
                write!(f, "`{found}`: {}; {hint}", self.message)
            }
            (None, Some(hint)) if self.message.starts_with('`') => {
                write!(f, "{}: {hint}", self.message)
            }
            _ => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}
