//! Which links were offered more than they carry, and what became of the rest.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::show::{general, value};
use spillgate_measure::table::{Metric, Scope};

use super::Facts;
use super::remarks::Value;

/// Above this times its rate a link is overloaded.
const OVERLOAD: f64 = 1.05;

/// What is lost behind a queue, on the link or in a switch at its end.
const BEHIND: [Metric; 4] = [
    Metric::DropsLinkLoss,
    Metric::DropsCell,
    Metric::DropsFrame,
    Metric::DropsEpd,
];

/// Whether sentences about links depend on a value.
pub(super) fn wants(scope: Scope, metric: Metric) -> bool {
    match scope {
        Scope::Link => matches!(metric, Metric::Utilization | Metric::Carried),
        Scope::Queue => {
            matches!(
                metric,
                Metric::Offered
                    | Metric::Carried
                    | Metric::PacketsOffered
                    | Metric::PacketsLost
                    | Metric::SojournMean
            ) || BEHIND.contains(&metric)
        }
        _ => false,
    }
}

/// What one queue measured, or all of a link together.
#[derive(Clone, Debug, Default, PartialEq)]
struct Queues {
    /// Bits a second that came, and that left.
    offered: f64,
    carried: f64,
    /// Packets that came, and that no queue kept.
    packets: f64,
    lost: f64,
    /// The longest mean time in a queue in seconds, and which queue it was.
    wait: (f64, String),
}

impl Queues {
    fn take(&mut self, metric: Metric, name: &str, mean: f64) {
        match metric {
            Metric::Offered => self.offered += mean,
            Metric::Carried => self.carried += mean,
            Metric::PacketsOffered => self.packets += mean,
            Metric::PacketsLost => self.lost += mean,
            Metric::SojournMean if mean > self.wait.0 => self.wait = (mean, name.to_owned()),
            m if BEHIND.contains(&m) => self.lost -= mean,
            _ => {}
        }
    }

    /// What became of the part that a link offered `factor` times its rate did not carry.
    fn became(&self, factor: f64) -> String {
        if self.lost <= 0.0 {
            let growth = (self.offered - self.carried) / 8.0;
            return format!(
                "nothing was lost, and what waits grew by {} a second",
                value(growth, "B")
            );
        }
        let share = self.lost / self.packets;
        let lost = format!(
            "{} % of the packets that came were lost",
            general(100.0 * share, 2)
        );
        // Where less than half of the excess was lost, the other half waits.
        let excess = 1.0 - 1.0 / factor;
        match &self.wait {
            (wait, queue) if share < excess / 2.0 && *wait > 0.0 => format!(
                "{lost}, and those that left queue {queue} had waited {} on average",
                value(*wait, "s")
            ),
            _ => lost,
        }
    }
}

/// Collects what queues and links measured.
#[derive(Debug, Default)]
pub(super) struct Overload {
    /// By variant and name, in the order of their first values.
    queues: Vec<((usize, String), Queues)>,
    at: BTreeMap<(usize, String), usize>,
    /// By variant and name: utilization and rate in bits a second.
    links: BTreeMap<(usize, String), [f64; 2]>,
}

impl Overload {
    pub(super) fn take(&mut self, variant: usize, v: &Value<'_>, mean: f64) {
        let key = (variant, v.name.to_owned());
        match (v.scope, v.metric) {
            (Scope::Link, Metric::Utilization | Metric::Carried) => {
                let of = self.links.entry(key).or_default();
                of[usize::from(v.metric == Metric::Carried)] = mean;
            }
            (Scope::Queue, metric) => {
                let next = self.queues.len();
                let i = *self.at.entry(key.clone()).or_insert(next);
                if i == next {
                    self.queues.push((key, Queues::default()));
                }
                self.queues[i].1.take(metric, v.name, mean);
            }
            _ => {}
        }
    }

    /// The queues of each link together, in the order of their first queues.
    fn by_link(&self) -> Vec<((usize, &str), Queues)> {
        let known: BTreeSet<&str> = self.links.keys().map(|(_, name)| name.as_str()).collect();
        let mut all: Vec<((usize, &str), Queues)> = Vec::new();
        let mut at = BTreeMap::new();
        for ((variant, name), q) in &self.queues {
            // `LINK/QUEUE`, and names of both may have slashes: the longest name of a link counts.
            let mut ends = name.rmatch_indices('/').map(|(end, _)| &name[..end]);
            let Some(link) = ends.find(|link| known.contains(link)) else {
                continue;
            };
            let next = all.len();
            let i = *at.entry((*variant, link)).or_insert(next);
            if i == next {
                all.push(((*variant, link), Queues::default()));
            }
            let sum = &mut all[i].1;
            sum.offered += q.offered;
            sum.carried += q.carried;
            sum.packets += q.packets;
            sum.lost += q.lost;
            if q.wait.0 > sum.wait.0 {
                sum.wait = q.wait.clone();
            }
        }
        all
    }

    /// One sentence for each overloaded link, of the variant in which it was offered most.
    pub(super) fn said(&self, facts: &Facts, at: impl Fn(&str) -> String) -> Vec<String> {
        let mut most: Vec<(&str, f64, usize, Queues)> = Vec::new();
        for ((variant, link), q) in self.by_link() {
            let [used, carried] = self
                .links
                .get(&(variant, link.to_owned()))
                .copied()
                .unwrap_or_default();
            // A link that is not full carries what it is offered, or loses it elsewhere.
            let factor = q.offered * used / carried;
            let full = used > 1.0 / OVERLOAD && factor > OVERLOAD;
            if !full {
                continue;
            }
            let name = |variant: usize| facts.variants[variant].as_str();
            match most.iter_mut().find(|m| m.0 == link) {
                Some(m) if (factor, name(variant)) > (m.1, name(m.2)) => {
                    *m = (link, factor, variant, q);
                }
                Some(_) => {}
                None => most.push((link, factor, variant, q)),
            }
        }
        let slows = match facts.deaf() {
            0 => "; TCP slows down after losses, so a policy changes what is offered",
            deaf if deaf == facts.flows => {
                "; no flow slows down, so a policy decides only which packets wait or are lost"
            }
            _ => "",
        };
        most.into_iter()
            .map(|(link, factor, variant, q)| {
                format!(
                    "link {link} was offered {} times its rate{}: {}{slows}",
                    general(factor, 3),
                    at(&facts.variants[variant]),
                    q.became(factor)
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(values: &[(Scope, &str, Metric, f64)], connections: usize) -> Vec<String> {
        let facts = Facts {
            flows: 2,
            connections,
            ..Facts::nothing()
        };
        let mut all = Overload::default();
        for (scope, name, metric, mean) in values {
            let value = Value {
                scope: *scope,
                name,
                metric: *metric,
                mean: *mean,
                width: 1.0,
                runs: 5,
            };
            all.take(0, &value, *mean);
        }
        all.said(&facts, |_| String::new())
    }

    /// Two queues of `e/wan`, 10 Mb/s, to which 20 Mb/s came.
    fn overload(lost: f64, behind: f64) -> Vec<(Scope, &'static str, Metric, f64)> {
        let queue = |name, metric, mean| (Scope::Queue, name, metric, mean);
        vec![
            queue("e/wan/voice", Metric::Offered, 5e6),
            queue("e/wan/a/b", Metric::Offered, 15e6),
            queue("e/wan/a/b", Metric::Carried, 10e6),
            queue("e/wan/a/b", Metric::PacketsOffered, 1000.0),
            queue("e/wan/a/b", Metric::PacketsLost, lost + behind),
            queue("e/wan/a/b", Metric::DropsLinkLoss, behind),
            queue("e/wan/a/b", Metric::SojournMean, 2.5),
            (Scope::Link, "e", Metric::Carried, 1e6),
            (Scope::Link, "e", Metric::Utilization, 0.1),
            (Scope::Link, "e/wan", Metric::Carried, 1e7),
            (Scope::Link, "e/wan", Metric::Utilization, 1.0),
        ]
    }

    #[test]
    fn what_became_of_the_rest_is_said() {
        let begin = "link e/wan was offered 2 times its rate: ";
        for (lost, behind, connections, end) in [
            (500.0, 0.0, 1, "50 % of the packets that came were lost"),
            (
                500.0,
                0.0,
                2,
                "50 % of the packets that came were lost; TCP slows down after losses, so a policy changes what is offered",
            ),
            (
                0.0,
                10.0,
                0,
                "nothing was lost, and what waits grew by 1.25 MB a second; no flow slows down, so a policy decides only which packets wait or are lost",
            ),
            (
                20.0,
                0.0,
                1,
                "2 % of the packets that came were lost, and those that left queue e/wan/a/b had waited 2.5 s on average",
            ),
        ] {
            assert_eq!(
                said(&overload(lost, behind), connections),
                [format!("{begin}{end}")]
            );
        }
    }
}
