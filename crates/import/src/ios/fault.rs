//! Errors of a line, before the line is known.

/// Stable codes of the importer's diagnostics.
pub(crate) mod code {
    spillgate_scenario::diagnostic_codes! {
        NOT_TEXT = "E0701", "The file holds a NUL byte.";
        TOO_LARGE = "E0702", "The file, or what it expands to, is too large.";
        OPEN_BANNER = "E0703", "A banner's delimiter does not come again.";
        MISSING = "E0704", "A command lacks an argument.";
        UNEXPECTED = "E0705", "An argument is not one that the command takes.";
        RANGE = "E0706", "A number is outside its range.";
        PERCENT_SUM = "E0707", "Percentages of one policy-map sum to more than 100.";
        NO_CLASS_MAP = "E0708", "A class-map is not defined.";
        NO_POLICY_MAP = "E0709", "A policy-map is not defined.";
        NO_ACCESS_LIST = "E0710", "An access list is not defined.";
        CLASS_CYCLE = "E0711", "A class-map matches on itself.";
        POLICY_CYCLE = "E0712", "A policy-map contains itself.";
        CONFLICT = "E0713", "Two commands exclude each other.";
        ATTACHED_TWICE = "E0714", "An interface has two output policies.";
        AMBIGUOUS = "E0715", "An abbreviation stands for several keywords.";
        NO_INTERFACE = "E0716", "The interface that was asked for does not exist.";
        NO_PLATFORM = "E0717", "The platform that was asked for does not exist.";
        NO_OBJECT_GROUP = "E0719", "An object group is not defined.";
        DIALECT = "E0718", "The file is a configuration of another system, or of none.";
        BROKEN = "E0720", "A line seems to be broken by a terminal.";
        CIRCUIT_TWICE = "E0721", "Two circuits of an interface have one VPI/VCI.";
        NO_VC_CLASS = "E0722", "A class of circuits is not defined.";
        SEVERAL_CIRCUITS = "E0723", "An interface has several circuits, and none of them is named.";
        GROUP_CYCLE = "E0724", "An object group contains itself.";
        LATIN1 = "W0701", "The file is not UTF-8.";
        MATCHES_NOTHING = "W0702", "A class matches nothing.";
        MATCHES_OTHERWISE = "W0703", "A class matches other packets than on the router.";
        NOTHING_FOUND = "W0704", "The file configures no queueing.";
        RENAMED = "W0705", "A class has another name in results.";
        NO_BANDWIDTH = "W0706", "Percentages on an interface without a bandwidth.";
        OVERBOOKED = "W0707", "Classes reserve more than there is.";
        NOT_DEFINED = "W0708", "Something that is named is not defined, and something stands in for it.";
        LEFT_OUT = "W0709", "A command is wrong, and left out.";
        WRAPPED = "W0710", "A line was wrapped by a terminal.";
        OTHER_PLATFORM = "W0711", "The file looks like a configuration of another platform.";
    }
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
    /// It is right and the simulation has no such thing; the reason.
    Unmodelled(String),
    /// It may be right, or misspelt; what may be meant.
    NotUnderstood(String),
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
