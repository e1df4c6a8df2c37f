//! What can be wrong with a line, before it is known which line it is.

/// Stable codes of the importer's diagnostics.
pub(crate) mod code {
    /// The file holds a NUL byte.
    pub(crate) const NOT_TEXT: &str = "E0701";
    /// The file, or what it expands to, is too large.
    pub(crate) const TOO_LARGE: &str = "E0702";
    /// A banner's delimiter does not come again.
    pub(crate) const OPEN_BANNER: &str = "E0703";
    /// A command lacks an argument.
    pub(crate) const MISSING: &str = "E0704";
    /// An argument is not one that the command takes.
    pub(crate) const UNEXPECTED: &str = "E0705";
    /// A number is outside its range.
    pub(crate) const RANGE: &str = "E0706";
    /// Percentages of one policy-map sum to more than 100.
    pub(crate) const PERCENT_SUM: &str = "E0707";
    /// A class-map is not defined.
    pub(crate) const NO_CLASS_MAP: &str = "E0708";
    /// A policy-map is not defined.
    pub(crate) const NO_POLICY_MAP: &str = "E0709";
    /// An access list is not defined.
    pub(crate) const NO_ACCESS_LIST: &str = "E0710";
    /// A class-map matches on itself.
    pub(crate) const CLASS_CYCLE: &str = "E0711";
    /// A policy-map contains itself.
    pub(crate) const POLICY_CYCLE: &str = "E0712";
    /// Two commands exclude each other.
    pub(crate) const CONFLICT: &str = "E0713";
    /// An interface has two output policies.
    pub(crate) const ATTACHED_TWICE: &str = "E0714";
    /// An abbreviation stands for several keywords.
    pub(crate) const AMBIGUOUS: &str = "E0715";
    /// The interface that was asked for does not exist.
    pub(crate) const NO_INTERFACE: &str = "E0716";
    /// The platform that was asked for does not exist.
    pub(crate) const NO_PLATFORM: &str = "E0717";
    /// The file is not UTF-8.
    pub(crate) const LATIN1: &str = "W0701";
    /// A class matches nothing.
    pub(crate) const MATCHES_NOTHING: &str = "W0702";
    /// A class matches other packets than on the router.
    pub(crate) const MATCHES_OTHERWISE: &str = "W0703";
    /// The file configures no queueing.
    pub(crate) const NOTHING_FOUND: &str = "W0704";
    /// A class has another name in results.
    pub(crate) const RENAMED: &str = "W0705";
    /// Percentages on an interface without a bandwidth.
    pub(crate) const NO_BANDWIDTH: &str = "W0706";
    /// Classes reserve more than there is.
    pub(crate) const OVERBOOKED: &str = "W0707";
}

/// Something wrong at a column of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// One of [`code`].
    pub(crate) code: &'static str,
    /// Column, from 1.
    pub(crate) column: u32,
    /// What is wrong.
    pub(crate) message: String,
    /// The offending text.
    pub(crate) found: String,
    /// What would be valid.
    pub(crate) hint: String,
}

impl Fault {
    pub(crate) fn new(code: &'static str, column: u32, message: impl Into<String>) -> Self {
        Self {
            code,
            column,
            message: message.into(),
            found: String::new(),
            hint: String::new(),
        }
    }

    pub(crate) fn found(mut self, found: impl Into<String>) -> Self {
        self.found = found.into();
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

/// Why a command did not become part of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is wrong.
    Wrong(Box<Fault>),
    /// It is right, or may be, and the simulation has no such thing; the reason.
    Unmodelled(String),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self::Wrong(Box::new(fault))
    }
}

/// A refusal for a reason that lies in the simulation.
pub(crate) fn unmodelled<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Unmodelled(reason.into()))
}
