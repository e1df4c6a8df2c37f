//! What the crate can do, as lists for help texts and tables.

/// One entry of a catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The key under which a scenario writes it.
    pub kind: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
}

impl Kind {
    /// [`Kind::summary`] without the blanks that the doc comment began with.
    pub fn summary(&self) -> &'static str {
        self.summary.trim_start()
    }
}

/// A family of interchangeable algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// Its name: `disciplines`, `aqm`, ...
    pub name: &'static str,
    /// Its members.
    pub kinds: &'static [Kind],
}

/// Every family of the crate with its members, in the order of the registries.
pub fn kinds() -> [Family; 2] {
    [
        Family {
            name: "disciplines",
            kinds: crate::spec::KINDS,
        },
        Family {
            name: "aqm",
            kinds: crate::aqm::KINDS,
        },
    ]
}
