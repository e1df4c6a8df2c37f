//! Which numbers a run yields, and what the runs of a variant say together.
//!
//! A run's result is a flat row of numbers; the [`Layout`], shared by all runs,
//! says what each of them is. NaN is "undefined in this run".

pub use crate::catalog::{Better, Metric, Scope};
pub use crate::row::Row;
use crate::stats::{Interval, TQuantiles};

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

/// The mean of each number that `wanted` chooses over the runs, with its 95 % Student-t interval,
/// one after the other in the order of the layout. A number that a row lacks counts as undefined.
pub fn summarize_each<'a>(
    layout: &'a Layout,
    runs: &'a [&'a Row],
    wanted: impl Fn(&Key) -> bool + 'a,
) -> impl Iterator<Item = (&'a Key, Interval)> + 'a {
    let mut t = TQuantiles::new(Interval::LEVEL);
    let keys = layout.keys.iter().enumerate();
    keys.filter(move |(_, key)| wanted(key))
        .map(move |(i, key)| (key, interval_at(i, runs, &mut t)))
}

fn interval_at(i: usize, runs: &[&Row], t: &mut TQuantiles) -> Interval {
    let column = runs.iter().map(|r| r.get(i).unwrap_or(f64::NAN));
    Interval::collect(column, Interval::LEVEL, t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measures;

    #[test]
    fn summarizes_by_column_and_skips_what_is_undefined() {
        let mut out = Measures::names();
        let mut voice = out.of(Scope::Class, || "voice");
        voice.put(Metric::OwdMean, 0.0);
        voice.put(Metric::LossRatio, 0.0);
        out.of(Scope::Link, || "wan").put(Metric::Utilization, 0.0);
        let layout = out.layout;
        let nan = f64::NAN;
        let runs = [
            vec![1.0, nan, 0.5],
            vec![2.0, nan, 0.5],
            vec![3.0, 0.25, 0.5],
            vec![6.0],
        ];
        let runs = runs.map(Row::from);
        let runs: Vec<&Row> = runs.iter().collect();
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
