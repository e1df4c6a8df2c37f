//! Policies as text for other systems: Cisco IOS configurations and Linux `tc` commands.
//!
//! [`ios`] writes what [`spillgate_import::ConfigImporter`] reads back as the same policies; [`tc`]
//! writes the commands that come nearest to a policy on Linux. Parts that the target cannot express
//! become a [`Note`]; nothing is dropped silently.
//!
//! ```
//! use spillgate_export::{Source, ios};
//! use spillgate_import::ConfigImporter;
//! use spillgate_scenario::{Importer as _, Platform};
//!
//! let config = b"class-map match-any voice\n match dscp ef\n\
//!     policy-map WAN\n class voice\n  priority percent 15\n";
//! let imported = ConfigImporter::default().ios("ce.cfg", config, Platform::Ios)?;
//! let source = Source::of_configuration(&imported, Platform::Ios, None, &|_| None)?;
//! let written = ios(&source);
//! assert!(written.notes.is_empty());
//! let again = ConfigImporter::default().ios("again.cfg", written.text.as_bytes(), Platform::Ios)?;
//! assert_eq!(again.policies, imported.policies);
//! # Ok::<(), spillgate_scenario::Diagnostics>(())
//! ```
#![forbid(unsafe_code)]

use spillgate_scenario::plan::Unmodelled;

mod codes;
mod ios;
mod limits;
mod settings;
mod source;
mod tc;

pub use codes::CODES;
pub use ios::ios;
pub use source::{Circuit, Input, Port, Source, Tag, option, rate};
pub use tc::{Filters, PACKET_BYTES, Scheduler, TcOptions, tc};

/// Policies as text, and what of them it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// The whole text; notes stand in it as comments, too.
    pub text: String,
    /// The parts that the target cannot express, in the order of the policies.
    pub notes: Vec<Note>,
}

/// A part that the target cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Where: `policy WAN, class voice`.
    pub place: String,
    /// What is not said, or said otherwise, and why.
    pub reason: String,
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

/// Collects notes; each once.
#[derive(Debug, Default)]
struct Notes(Vec<Note>);

impl Notes {
    /// Those on the lines of a configuration that have no translation; `kept`: whether a line
    /// stands as it is in what is written.
    fn of(source: &Source, kept: impl Fn(&str) -> bool) -> Self {
        let note = |u: &Unmodelled| {
            let text = u.text.trim();
            let kept = match kept(text) {
                true => " (the line is kept as it stands)",
                false => "",
            };
            Note {
                place: format!("{}:{}", u.file, u.line),
                reason: format!("{text}: {}{kept}", u.reason),
            }
        };
        Self(source.lost.iter().map(note).collect())
    }

    fn at<'n>(&'n mut self, place: &'n str) -> Here<'n> {
        Here { place, notes: self }
    }
}

/// Notes on what stands at one place.
struct Here<'n> {
    place: &'n str,
    notes: &'n mut Notes,
}

impl Here<'_> {
    fn add(&mut self, reason: impl Into<String>) {
        let note = Note {
            place: self.place.to_owned(),
            reason: reason.into(),
        };
        if !self.notes.0.contains(&note) {
            self.notes.0.push(note);
        }
    }
}

/// Where a class is.
fn place(policy: &str, class: &str) -> String {
    format!("policy {policy}, class {class}")
}
