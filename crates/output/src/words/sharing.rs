//! How alike connections that always have something to send share.

use std::sync::Arc;

use spillgate_core::show::general;
use spillgate_scenario::plan::{Application, FlowPlan, Traffic, WorldPlan};

/// Below this index of Jain half of the connections, sharing equally, would do as well as all.
const HALF: f64 = 0.5;

/// A class whose connections are alike.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Alike {
    pub(super) class: String,
    pub(super) connections: usize,
}

/// The classes of several connections that always have something to send, from before the measured
/// period to its end, and differ in nothing that decides on their rates: parameters, DSCP, delay
/// and slowest link of the paths there and back.
pub(super) fn alike(world: &WorldPlan) -> Vec<Alike> {
    let of_class = |class: usize| {
        let mut flows = world.flows.iter().filter(|f| usize::from(f.class) == class);
        let first = flows.next()?;
        let others: Vec<&FlowPlan> = flows.collect();
        let all = !others.is_empty()
            && greedy(first, world)
            && others
                .iter()
                .all(|f| greedy(f, world) && same(first, f, world));
        all.then(|| Alike {
            class: world.classes[class].clone(),
            connections: others.len() + 1,
        })
    };
    (0..world.classes.len()).filter_map(of_class).collect()
}

/// Whether it is a connection that always has something to send within the measured period.
fn greedy(f: &FlowPlan, world: &WorldPlan) -> bool {
    let greedy = matches!(
        f.traffic,
        Traffic::Tcp {
            application: Application::Greedy,
            ..
        }
    );
    let life = &f.lifetime;
    let begun = life.start + life.start_spread;
    // An exponential gap has no bound.
    greedy
        && life.start_gap.as_ps() == 0
        && begun.as_ps() <= world.warmup.as_ps()
        && life.stop.as_ps() >= world.warmup.as_ps() + world.duration.as_ps()
}

fn same(a: &FlowPlan, b: &FlowPlan, world: &WorldPlan) -> bool {
    let (Traffic::Tcp { config: x, .. }, Traffic::Tcp { config: y, .. }) = (&a.traffic, &b.traffic)
    else {
        return false;
    };
    let path = |route: u32| {
        let links = world.routes[route as usize].iter();
        let links = links.map(|l| &world.links[*l as usize]);
        let delay: u64 = links.clone().map(|l| l.delay.as_ps()).sum();
        (delay, links.map(|l| l.rate).min())
    };
    let paths = |f: &FlowPlan| (path(f.route), f.back.map(path));
    (Arc::ptr_eq(x, y) || x == y) && (a.dscp, a.ecn) == (b.dscp, b.ecn) && paths(a) == paths(b)
}

/// What is said of alike connections with this index of Jain; none if they share.
///
/// The index of n connections times n is the number of connections that, sharing equally, would
/// have it (Jain, Chiu and Hawe 1984); where that is one, to whole numbers, one connection has
/// nearly everything.
pub(super) fn said(alike: &Alike, jain: f64, at: &str) -> Option<String> {
    let n = alike.connections as f64;
    let share = jain * n;
    (jain > 0.0 && jain < HALF.max(1.5 / n)).then(|| {
        let what = match share < 1.5 {
            true => "one has nearly everything".to_owned(),
            false => format!("they share as {} would that share equally", general(share, 2)),
        };
        format!(
            "the {n} connections of class {} are alike, and {what}{at}: Jain's index of their rates is {}",
            alike.class,
            general(jain, 2)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound where one has nearly everything: of n connections one has a share s, and the
    /// others the rest equally.
    #[test]
    fn one_that_has_nearly_everything_is_told_from_several() {
        for n in [2_usize, 3, 10, 100] {
            let alike = Alike {
                class: "bulk".to_owned(),
                connections: n,
            };
            let index = |s: f64| {
                let others = (1.0 - s) * (1.0 - s) / (n as f64 - 1.0);
                1.0 / (n as f64 * (s * s + others))
            };
            let one = |s| {
                said(&alike, index(s), "").is_some_and(|t| t.contains("one has nearly everything"))
            };
            assert!(one(1.0) && one(0.85) && !one(0.75), "{n}");
            assert_eq!(said(&alike, 1.0, ""), None);
        }
        let ten = Alike {
            class: "bulk".to_owned(),
            connections: 10,
        };
        assert_eq!(
            said(&ten, 0.1, " (tail)").unwrap(),
            "the 10 connections of class bulk are alike, and one has nearly everything (tail): Jain's index of their rates is 0.1"
        );
        assert_eq!(
            said(&ten, 0.33, "").unwrap(),
            "the 10 connections of class bulk are alike, and they share as 3.3 would that share equally: Jain's index of their rates is 0.33"
        );
        assert_eq!(said(&ten, 0.5, ""), None);
    }
}
