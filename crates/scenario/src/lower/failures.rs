//! Links that fail, and the flows that they leave without a path.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::{Dur, Time};

use super::links::{Draft, Links};
use super::nodes::Nodes;
use super::paths::Paths;
use super::period::Times;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::plan::{FailurePlan, FlowPlan};
use crate::schema::Scenario;
use spillgate_core::suggest::list;

/// The most failures of links, each link of a group counted.
const MAX_FAILURES: usize = 1_000_000;
/// The most warnings about flows without a path: the search takes time.
const MAX_WARNINGS: usize = 50;

/// The failures of a scenario.
pub(super) struct Failures {
    /// By time, then link, each with its index in the scenario.
    all: Vec<(FailurePlan, usize)>,
}

fn at(i: usize, key: &str) -> [Step; 4] {
    steps!["topology", "failures", i, key]
}

impl Failures {
    /// All failures; none after an error.
    pub(super) fn read(
        ctx: &mut Ctx<'_>,
        scenario: &Scenario,
        root: &Node,
        links: &Links<'_>,
        times: &Times,
    ) -> Option<Self> {
        let specs = &scenario.topology.failures;
        let mut all = Vec::with_capacity(specs.len());
        let mut fine = true;
        for (i, spec) in specs.iter().enumerate() {
            if let Some(repair) = spec.repair.filter(|r| *r <= spec.at) {
                let d = Diagnostic::error(
                    codes::BAD_TIMES,
                    format!("the link is repaired at {repair}, it fails at {}", spec.at),
                )
                .hint("`repair` is counted from the beginning of the run, like `at`");
                ctx.error(d, root, &at(i, "repair"));
                fine = false;
            } else if spec.at >= times.end() {
                let d = Diagnostic::warning(
                    codes::W_LATE_FAILURE,
                    format!(
                        "link `{}` fails after the end of the run at {}",
                        spec.link,
                        times.end()
                    ),
                );
                ctx.warn(d, root, &at(i, "at"));
            }
            let Some(named) = links.find_way(&spec.link) else {
                ctx.error(links.unknown(&spec.link), root, &at(i, "link"));
                fine = false;
                continue;
            };
            for link in named.ids() {
                let failure = FailurePlan {
                    down: Time::ZERO + spec.at,
                    link,
                    up: spec.repair.map_or(Time::MAX, |r| Time::ZERO + r),
                    spread: spec.spread.unwrap_or_default(),
                    number: i as u32,
                };
                all.push((failure, i));
            }
            if all.len() > MAX_FAILURES {
                let d = Diagnostic::error(
                    codes::OUT_OF_RANGE,
                    format!("more than {MAX_FAILURES} failures of single links"),
                )
                .hint("let fewer members of groups fail");
                ctx.error(d, root, &at(i, "link"));
                return None;
            }
        }
        all.sort_unstable();
        let this = Self { all };
        fine &= this.check_overlaps(ctx, scenario, root);
        fine.then_some(this)
    }

    /// Refuses a failure of a link that is down already.
    fn check_overlaps(&self, ctx: &mut Ctx<'_>, scenario: &Scenario, root: &Node) -> bool {
        let mut last: BTreeMap<u32, (Time, usize)> = BTreeMap::new();
        let mut pairs = BTreeSet::new();
        for (failure, i) in &self.all {
            match last.get(&failure.link) {
                Some((up, earlier)) if failure.down <= *up => {
                    pairs.insert((*earlier, *i));
                }
                _ => {}
            }
            let up = match failure.up {
                Time::MAX => Time::MAX,
                up => up + failure.spread,
            };
            last.insert(failure.link, (up, *i));
        }
        for (earlier, i) in &pairs {
            let specs = &scenario.topology.failures;
            let until = match specs[*earlier].repair {
                Some(repair) => format!(
                    "until {}",
                    repair + specs[*earlier].spread.unwrap_or_default()
                ),
                None => "for ever".to_owned(),
            };
            let d = Diagnostic::error(
                codes::FAILURE_OVERLAP,
                format!(
                    "link `{}` fails at {}, but failure {earlier} has it down from {} {until}",
                    specs[*i].link, specs[*i].at, specs[*earlier].at
                ),
            )
            .hint("give the earlier failure a `repair` before this one; failures count from 0");
            ctx.error(d, root, &at(*i, "at"));
        }
        pairs.is_empty()
    }

    /// Warns of each failure that leaves flows without any path, however routing reacts.
    pub(super) fn warn_of_islands(
        &self,
        ctx: &mut Ctx<'_>,
        scenario: &Scenario,
        root: &Node,
        paths: &mut Paths,
        flows: &[FlowPlan],
        times: &Times,
    ) {
        if self.all.is_empty() {
            return;
        }
        // Only flows whose path takes a failing link can lose it.
        let mut over: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        self.all.iter().for_each(|(f, _)| {
            over.entry(f.link).or_default();
        });
        for (path, links) in (0..).zip(&paths.all) {
            for link in links {
                if let Some(users) = over.get_mut(link) {
                    users.push(path);
                }
            }
        }
        let mut repairs: Vec<(Time, u32)> = self.all.iter().map(|(f, _)| (f.up, f.link)).collect();
        repairs.sort_unstable();
        let mut repairs = repairs.into_iter().peekable();
        let mut down: BTreeSet<u32> = BTreeSet::new();
        let mut cut: BTreeSet<u32> = BTreeSet::new();
        let mut warnings = 0;
        let end = Time::ZERO + times.end();
        for now in self.all.chunk_by(|a, b| a.0.down == b.0.down) {
            let instant = now[0].0.down;
            if instant >= end || warnings >= MAX_WARNINGS {
                break;
            }
            while let Some((_, link)) = repairs.next_if(|(up, _)| *up <= instant) {
                paths.routes.set_up(link, true);
                down.remove(&link);
            }
            for (failure, _) in now {
                paths.routes.set_up(failure.link, false);
                down.insert(failure.link);
            }
            let suspects: BTreeSet<u32> = down.iter().flat_map(|l| &over[l]).copied().collect();
            let before = std::mem::take(&mut cut);
            cut = suspects
                .into_iter()
                .filter(|path| {
                    let (from, to) = paths.ends[*path as usize];
                    paths.routes.path(from, to).is_none()
                })
                .collect();
            let lost = |path: u32| cut.contains(&path) && !before.contains(&path);
            let names: Vec<&str> = flows
                .iter()
                .filter(|f| {
                    f.lifetime.stop > instant && (lost(f.route) || f.back.is_some_and(lost))
                })
                .map(|f| &*f.name)
                .collect();
            if names.is_empty() {
                continue;
            }
            let i = now[0].1;
            let spec = &scenario.topology.failures[i];
            let one = names.len() == 1;
            let d = Diagnostic::warning(
                codes::W_CUT_OFF,
                format!(
                    "when link `{}` fails at {}, {} {} left without a path: {}",
                    spec.link,
                    spec.at,
                    if one { "one flow" } else { "flows" },
                    if one { "is" } else { "are" },
                    list(names)
                ),
            )
            .hint("until a repair their packets are lost, and connections time out");
            ctx.warn(d, root, &at(i, "link"));
            warnings += 1;
        }
    }

    /// How long routing takes to react.
    pub(super) fn reroute(scenario: &Scenario) -> Dur {
        let routing = &scenario.topology.routing;
        routing.detection + routing.convergence
    }

    pub(super) fn into_plan(self) -> Vec<FailurePlan> {
        self.all.into_iter().map(|(f, _)| f).collect()
    }
}

/// A link with the names of its two ends; of a `duplex` link one for both directions.
pub(crate) struct Ends {
    /// Its name.
    pub(crate) link: String,
    /// Where it begins.
    pub(crate) from: String,
    /// Where it ends.
    pub(crate) to: String,
}

/// The links of a scenario, each member of a group by itself; none after an error.
pub(crate) fn ends_of_links(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
) -> Option<Vec<Ends>> {
    let before = ctx.error_count();
    let nodes = Nodes::read(ctx, scenario, root);
    let links = Links::read(ctx, scenario, root, &nodes);
    if ctx.error_count() > before {
        return None;
    }
    let drafts = links.drafts()?.into_iter().filter(|d| !d.is_reverse());
    let ends = |d: Draft<'_>| {
        let (from, to) = d.ends();
        Ends {
            link: d.name().to_owned(),
            from: nodes.names[from as usize].clone(),
            to: nodes.names[to as usize].clone(),
        }
    };
    Some(drafts.map(ends).collect())
}
