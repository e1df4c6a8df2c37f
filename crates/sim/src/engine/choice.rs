//! Which of the two engines drives a world.

/// How a world gets through its events. The results and the fingerprint are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// The definition: one event for each thing that happens, every packet through the discipline of every port,
    /// every segment through the whole of TCP, nothing worked out ahead of the clock.
    Plain,
    /// Takes the short ways that the scenario allows.
    #[default]
    Express,
}

impl Engine {
    /// All of them, with the names that users write.
    pub const ALL: [(&'static str, Self); 2] = [("plain", Self::Plain), ("express", Self::Express)];

    /// That of a name.
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(n, _)| *n == name);
        found.map(|(_, engine)| *engine)
    }
}
