//! One walk over all that is measured gives both what the numbers of a run are and the numbers.

use serde::{Deserialize, Serialize};
use spillgate_core::{DropReason, Dur};

use crate::Losses;
use crate::table::{Key, Layout, Metric, Scope};

/// The range of a value whose packets or transfers were still outstanding when the run ended: had
/// all been lost, all arrived at once, or all arrived arbitrarily late. Stored runs have it in
/// this form.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The index of the value.
    #[serde(rename = "value")]
    pub at: u32,
    /// The smallest possible value.
    pub low: f64,
    /// The largest possible value, perhaps infinite.
    pub high: f64,
}

/// What the components of a world put when they are asked what they measure.
///
/// The walk over an idle world gives the [`Layout`], the same walk over one that has run gives the
/// values in that order. Where names are not wanted none is made.
#[derive(Clone, Debug, Default)]
pub struct Measures {
    /// What was put, if names are wanted.
    pub layout: Layout,
    /// Its values, if they are wanted; NaN where undefined.
    pub values: Vec<f64>,
    /// Bounds of the values that are not known, ascending by index.
    pub bounds: Vec<Bounds>,
    len: usize,
    named: bool,
    valued: bool,
}

impl Measures {
    /// Takes names, not values.
    pub fn names() -> Self {
        Self {
            named: true,
            ..Self::default()
        }
    }

    /// Takes values, for which it has room, and no names.
    pub fn values(room: usize) -> Self {
        Self {
            values: Vec::with_capacity(room),
            valued: true,
            ..Self::default()
        }
    }

    /// Takes both, to compare or to look things up.
    pub fn all() -> Self {
        Self {
            valued: true,
            ..Self::names()
        }
    }

    /// How many numbers were put.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What the next numbers are about.
    pub fn of<N: Into<String>>(&mut self, scope: Scope, name: impl FnOnce() -> N) -> Place<'_> {
        if self.named {
            self.layout.names.push(name().into());
        }
        Place { scope, all: self }
    }

    fn put(&mut self, scope: Scope, metric: Metric, value: f64, bounds: Option<(f64, f64)>) {
        if self.named {
            let name = self.layout.names.len() as u32 - 1;
            self.layout.keys.push(Key {
                scope,
                name,
                metric,
            });
        }
        if self.valued {
            if let Some((low, high)) = bounds.filter(|b| *b != (value, value)) {
                let at = self.len as u32;
                self.bounds.push(Bounds { at, low, high });
            }
            self.values.push(value);
        }
        self.len += 1;
    }
}

/// One thing that numbers are about.
pub struct Place<'m> {
    scope: Scope,
    all: &'m mut Measures,
}

impl Place<'_> {
    /// A number, in the unit of its metric.
    pub fn put(&mut self, metric: Metric, value: impl Number) {
        self.all.put(self.scope, metric, value.number(), None);
    }

    /// A number that is known only within bounds, if there are any.
    pub fn put_within(&mut self, metric: Metric, value: impl Number, bounds: Option<(f64, f64)>) {
        self.all.put(self.scope, metric, value.number(), bounds);
    }

    /// Packets lost, for each reason.
    pub fn put_drops(&mut self, lost: &Losses) {
        self.put_lost(|why| lost.of(why));
    }

    /// As [`Place::put_drops`], with a count for each reason.
    pub fn put_lost(&mut self, lost: impl Fn(DropReason) -> u64) {
        for why in DropReason::ALL {
            self.put(Metric::drops(why), lost(why));
        }
    }
}

/// A number in base units: itself, a count, seconds; NaN if undefined.
pub trait Number {
    /// As it stands among the values.
    fn number(self) -> f64;
}

impl Number for f64 {
    fn number(self) -> f64 {
        self
    }
}

impl Number for u64 {
    fn number(self) -> f64 {
        self as f64
    }
}

impl Number for u32 {
    fn number(self) -> f64 {
        self.into()
    }
}

impl Number for Dur {
    fn number(self) -> f64 {
        self.as_secs_f64()
    }
}

impl<N: Number> Number for Option<N> {
    fn number(self) -> f64 {
        self.map_or(f64::NAN, N::number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(out: &mut Measures) {
        let mut voice = out.of(Scope::Class, || "voice");
        voice.put(Metric::PacketsSent, 7_u64);
        voice.put_within(
            Metric::OwdMax,
            Dur::from_ms(3),
            Some((0.003, f64::INFINITY)),
        );
        voice.put_within(Metric::LossRatio, 0.5, Some((0.5, 0.5)));
        let wan = || -> String { unreachable!("names are not wanted") };
        match out.named {
            true => out.of(Scope::Link, || "wan"),
            false => out.of(Scope::Link, wan),
        }
        .put(Metric::Utilization, None::<f64>);
    }

    #[test]
    fn one_walk_gives_names_or_values() {
        let (mut names, mut values, mut all) =
            (Measures::names(), Measures::values(4), Measures::all());
        for out in [&mut names, &mut values, &mut all] {
            walk(out);
        }
        assert_eq!(names.layout, all.layout);
        assert_eq!(names.layout.names, ["voice", "wan"]);
        let at = |scope, name, metric| all.layout.position(scope, name, metric);
        assert_eq!(at(Scope::Class, "voice", Metric::OwdMax), Some(1));
        assert_eq!(at(Scope::Link, "wan", Metric::Utilization), Some(3));
        assert!(names.values.is_empty() && values.layout.keys.is_empty());
        assert_eq!(values.values[..3], [7.0, 0.003, 0.5]);
        assert!(values.values[3].is_nan());
        // What is known needs no bounds.
        let bounds = [(1, 0.003, f64::INFINITY)].map(|(at, low, high)| Bounds { at, low, high });
        assert_eq!(values.bounds, bounds);
        assert_eq!([names, values, all].map(|m| m.len()), [4; 3]);
    }
}
