//! What a user may choose of the commands.

/// What the classes of a policy become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// Classes of `htb`: guarantees, shapers, policies within each other.
    #[default]
    Htb,
    /// Bands of `ets`: strict priorities, then shares by deficit round robin.
    Ets,
    /// Bands of `prio`: strict priorities, and one class for the rest.
    Prio,
}

impl Scheduler {
    /// Every one, in the order in which they are listed.
    pub const ALL: [Self; 3] = [Self::Htb, Self::Ets, Self::Prio];

    /// Its name, that of the queueing discipline.
    pub fn name(self) -> &'static str {
        match self {
            Self::Htb => "htb",
            Self::Ets => "ets",
            Self::Prio => "prio",
        }
    }
}

/// What conditions become.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filters {
    /// `flower`: fields by name.
    #[default]
    Flower,
    /// `u32`: words at places, for kernels without `flower`, and addresses with any wildcard.
    U32,
}

impl Filters {
    /// Every kind, in the order in which they are listed.
    pub const ALL: [Self; 2] = [Self::Flower, Self::U32];

    /// Its name, that of the classifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flower => "flower",
            Self::U32 => "u32",
        }
    }
}

/// How policies become commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcOptions<'a> {
    /// The network device; none for devices called like the ports.
    pub device: Option<&'a str>,
    /// What classes become.
    pub scheduler: Scheduler,
    /// What conditions become.
    pub filters: Filters,
}
