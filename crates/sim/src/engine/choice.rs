//! Which of the two engines runs a world.

/// How a world handles its events. Both engines give the same results and the same fingerprint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// The definition: one event for each thing that happens. Every packet passes the discipline of
    /// every port, every segment all of TCP, and nothing is computed ahead of the clock.
    Plain,
    /// Computes departures, deliveries and acknowledgments ahead of the clock where the scenario
    /// allows it.
    #[default]
    Express,
}

impl Engine {
    /// Both, with the names that users write.
    pub const ALL: [(&'static str, Self); 2] = [("plain", Self::Plain), ("express", Self::Express)];

    /// The engine with this name.
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(n, _)| *n == name);
        found.map(|(_, engine)| *engine)
    }
}
