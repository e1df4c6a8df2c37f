//! Which numbers a run yields, and what the runs of a variant say together.
//!
//! A run's result is a flat row of numbers; the [`Layout`], shared by all runs,
//! says what each of them is. NaN is "undefined in this run".

pub use crate::metric::{Better, Metric};
use crate::stats::{Interval, TQuantiles};

/// What a number is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// One flow.
    Flow,
    /// The flows of a class of service.
    Class,
    /// The flows with a DSCP at the source.
    Dscp,
    /// One queue of a port.
    Queue,
    /// A link.
    Link,
    /// The labelled packets on a link whose top label has certain EXP bits: `core/5`.
    Exp,
    /// A class of the policy at the receiving end of a link: `link/class`.
    Input,
    /// The meter of a policer, by its link and class: `link/class`.
    Meter,
    /// The packets of a queue that have a code point there: `link/queue/af11`.
    QueueDscp,
    /// The packets of a class of service that arrived or were lost with a code point: `voice/ef`.
    ClassDscp,
    /// A node that takes time to forward packets.
    Node,
    /// A switch.
    Switch,
    /// An input of a switch, by the link that ends there: what waits in its queues.
    SwitchInput,
    /// An output of a switch, by the link that begins there: what waits for it at all inputs.
    SwitchOutput,
    /// A virtual output queue of a switch, by the links of its input and its output: `in/out`.
    Voq,
    /// An output port of an ATM switch, by the link that begins there: its cells.
    AtmPort,
    /// A line at an edge that circuits of ATM share, by its node and its name: `edge/atm0`.
    AtmLine,
    /// The flows of a class at a customer's site.
    Site,
    /// The flows of a class at a link with flow admission: `core/voice`.
    Admission,
    /// All flows.
    Total,
}

impl Scope {
    /// Every scope, in the order of reports.
    pub const ALL: [Self; 20] = [
        Self::Flow,
        Self::Class,
        Self::Dscp,
        Self::Queue,
        Self::Link,
        Self::Exp,
        Self::Input,
        Self::Meter,
        Self::QueueDscp,
        Self::ClassDscp,
        Self::Node,
        Self::Switch,
        Self::SwitchInput,
        Self::SwitchOutput,
        Self::Voq,
        Self::AtmPort,
        Self::AtmLine,
        Self::Site,
        Self::Admission,
        Self::Total,
    ];

    /// Its name in tables and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Class => "class",
            Self::Dscp => "dscp",
            Self::Queue => "queue",
            Self::Link => "link",
            Self::Exp => "exp",
            Self::Input => "input",
            Self::Meter => "meter",
            Self::QueueDscp => "queue-dscp",
            Self::ClassDscp => "class-dscp",
            Self::Node => "node",
            Self::Switch => "switch",
            Self::SwitchInput => "switch-input",
            Self::SwitchOutput => "switch-output",
            Self::Voq => "voq",
            Self::AtmPort => "atm-port",
            Self::AtmLine => "atm-line",
            Self::Site => "site",
            Self::Admission => "admission",
            Self::Total => "total",
        }
    }
}

/// What one number of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// What kind of thing it is about.
    pub scope: Scope,
    /// Which one: an index into [`Layout::names`].
    pub name: u32,
    /// Which metric.
    pub metric: Metric,
}

/// What the numbers of a row are; the same for all runs of a variant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Names of flows, classes, queues and links.
    pub names: Vec<String>,
    /// One per number of a row.
    pub keys: Vec<Key>,
}

impl Layout {
    /// Adds a thing with its metrics at the end of the row.
    pub fn push(
        &mut self,
        scope: Scope,
        name: impl Into<String>,
        metrics: impl IntoIterator<Item = Metric>,
    ) {
        let index = self.names.len() as u32;
        self.names.push(name.into());
        self.keys.extend(metrics.into_iter().map(|metric| Key {
            scope,
            name: index,
            metric,
        }));
    }

    /// The name that a key refers to; empty if the key is not of this layout.
    pub fn name(&self, key: &Key) -> &str {
        self.names.get(key.name as usize).map_or("", String::as_str)
    }

    /// Where in a row a number stands.
    pub fn position(&self, scope: Scope, name: &str, metric: Metric) -> Option<usize> {
        self.keys
            .iter()
            .position(|k| k.scope == scope && k.metric == metric && self.name(k) == name)
    }
}

/// The mean of each number that `wanted` chooses over the runs, with its 95 % Student-t interval, one
/// after the other in the order of the layout. A number that a row lacks counts as undefined.
pub fn summarize_each<'a>(
    layout: &'a Layout,
    runs: &'a [&'a [f64]],
    wanted: impl Fn(&Key) -> bool + 'a,
) -> impl Iterator<Item = (&'a Key, Interval)> + 'a {
    let mut t = TQuantiles::new(Interval::LEVEL);
    let keys = layout.keys.iter().enumerate();
    keys.filter(move |(_, key)| wanted(key))
        .map(move |(i, key)| (key, interval_at(i, runs, &mut t)))
}

fn interval_at(i: usize, runs: &[&[f64]], t: &mut TQuantiles) -> Interval {
    let column = runs.iter().map(|r| r.get(i).copied().unwrap_or(f64::NAN));
    Interval::collect(column, Interval::LEVEL, t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summarizes_by_column_and_skips_what_is_undefined() {
        let mut layout = Layout::default();
        layout.push(Scope::Class, "voice", [Metric::OwdMean, Metric::LossRatio]);
        layout.push(Scope::Link, "wan", [Metric::Utilization]);
        let nan = f64::NAN;
        let runs: [&[f64]; 4] = [
            &[1.0, nan, 0.5],
            &[2.0, nan, 0.5],
            &[3.0, 0.25, 0.5],
            &[6.0],
        ];
        let all: Vec<_> = summarize_each(&layout, &runs, |_| true).collect();
        assert_eq!(
            all.iter().map(|(k, _)| **k).collect::<Vec<_>>(),
            layout.keys
        );
        let of_links: Vec<_> = summarize_each(&layout, &runs, |k| k.scope == Scope::Link).collect();
        assert_eq!(of_links, all[2..]);
        let at = |scope, name, metric| Some(all[layout.position(scope, name, metric)?].1);
        let owd = at(Scope::Class, "voice", Metric::OwdMean).unwrap();
        assert_eq!(owd, Interval::of(&[1.0, 2.0, 3.0, 6.0], 0.95));
        let loss = at(Scope::Class, "voice", Metric::LossRatio).unwrap();
        assert_eq!((loss.n, loss.mean, loss.half), (1, 0.25, f64::INFINITY));
        let used = at(Scope::Link, "wan", Metric::Utilization).unwrap();
        assert_eq!((used.n, used.mean, used.half), (3, 0.5, 0.0));
        assert!(at(Scope::Link, "wan", Metric::Jain).is_none());
        assert!(at(Scope::Queue, "wan", Metric::Utilization).is_none());
    }
}
