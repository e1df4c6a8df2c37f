//! Designs: which values of the axes go together.
//!
//! A drawn design depends on its seed and the names of the axes alone and is the same on every
//! machine; it is drawn here and not by SciPy, so that parts of a study on several machines agree
//! on its points.
//!
//! Latin hypercube: M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21(2), 1979. Sobol:
//! direction numbers of S. Joe and F. Y. Kuo, scrambled and shuffled as in B. Burley, Practical
//! hash-based Owen scrambling, JCGT 9(4), 2020, by the crate `sobol_burley`.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::Rng;

use crate::axes::{Choice, Values};
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::points::MAX_POINTS;
use crate::schema::{DesignSpec, DrawnSpec, GivenSpec, Scenario};

/// The longest Sobol sequence, and the most axes of one.
const MAX_SOBOL: (usize, usize) = (1 << 16, sobol_burley::NUM_DIMENSION_SETS_4D as usize * 4);
/// Drawn values of a range differ by at least this part of it.
const PARTS: f64 = 10_000.0;

/// The values of all axes, and which of them go together.
pub(crate) struct Combined<'n> {
    /// The values of each axis.
    pub(crate) axes: Vec<Vec<Choice<'n>>>,
    /// Places on the axes, a row for each combination; none: all combinations.
    pub(crate) rows: Option<Vec<Vec<u32>>>,
}

/// Combines the values of axes by the design of a scenario; none after an error was reported.
pub(crate) fn combine<'n>(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    values: Vec<Values<'n>>,
) -> Option<Combined<'n>> {
    let full = DesignSpec::Full;
    let design = scenario.study.as_ref().map_or(&full, |s| &s.design);
    if *design != full && values.is_empty() {
        let message = format!("the design `{}` has no axes", design.name());
        let d = Diagnostic::error(codes::BAD_STUDY, message)
            .hint("list what is varied under `axes`, or leave the design out");
        ctx.error(d, root, &steps!["study", "design"]);
        return None;
    }
    let columns = match (design, design.drawn()) {
        (_, Some(drawn)) => Some(drawn_places(ctx, (scenario, root), (design, drawn))?),
        (DesignSpec::Given(given), _) => Some(given_places(ctx, root, given, values.len())?),
        _ => None,
    };
    if let Some(columns) = columns {
        return at_places(ctx, root, values, &columns, design);
    }
    let listed = values.into_iter().enumerate();
    let listed: Vec<_> = listed
        .map(|(i, v)| listed_values(ctx, root, i, v))
        .collect();
    let axes: Vec<_> = listed.into_iter().collect::<Option<_>>()?;
    match design {
        DesignSpec::Paired => paired(ctx, scenario, root, axes),
        _ => Some(Combined { axes, rows: None }),
    }
}

/// The values of an axis where none are drawn.
fn listed_values<'n>(
    ctx: &mut Ctx<'_>,
    root: &Node,
    index: usize,
    values: Values<'n>,
) -> Option<Vec<Choice<'n>>> {
    let between = match values {
        Values::Listed(choices) => return Some(choices),
        Values::Between(between) => between,
    };
    let hint = "write how many values it takes, such as `steps: 5`";
    let problem = match between.steps {
        None => "this range lacks `steps`",
        Some(0 | 1) => "a range takes at least its two ends",
        Some(n) if n as usize > MAX_POINTS => {
            "this range has more steps than a study may have points"
        }
        Some(n) => match between.range.steps(n) {
            Some(labels) => return Some(labels.into_iter().map(|l| between.choice(l)).collect()),
            None => "the range does not have so many different values",
        },
    };
    let d = Diagnostic::error(codes::BAD_AXIS, problem).hint(hint);
    ctx.error(d, root, &steps!["axes", index, "steps"]);
    None
}

/// The first values together, the second ones, and so on.
fn paired<'n>(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    axes: Vec<Vec<Choice<'n>>>,
) -> Option<Combined<'n>> {
    let count = axes[0].len();
    if let Some(i) = axes.iter().position(|a| a.len() != count) {
        let name = |i: usize| scenario.axes[i].name.as_str();
        let message = format!(
            "paired axes have the same number of values: `{}` has {count}, `{}` has {}",
            name(0),
            name(i),
            axes[i].len()
        );
        let d = Diagnostic::error(codes::BAD_STUDY, message)
            .hint("give each axis a value for each point, or take another design");
        ctx.error(d, root, &steps!["axes", i]);
        return None;
    }
    together(ctx, root, axes)
}

/// Row i of the points has value i of each axis. A value that occurs several times is one place on
/// its axis; so are several points with the same places.
fn together<'n>(
    ctx: &mut Ctx<'_>,
    root: &Node,
    axes: Vec<Vec<Choice<'n>>>,
) -> Option<Combined<'n>> {
    let count = axes[0].len();
    let mut rows = vec![Vec::with_capacity(axes.len()); count];
    let mut distinct = Vec::with_capacity(axes.len());
    for choices in axes {
        let mut places = BTreeMap::new();
        let mut kept: Vec<Choice<'n>> = Vec::new();
        for (row, choice) in rows.iter_mut().zip(choices) {
            let next = kept.len() as u32;
            let place = *places.entry(choice.label.clone()).or_insert(next);
            if place == next {
                kept.push(choice);
            }
            row.push(place);
        }
        distinct.push(kept);
    }
    let mut seen = BTreeSet::new();
    rows.retain(|row| seen.insert(row.clone()));
    if rows.len() < count {
        let message = format!("of the {count} points of the design {} differ", rows.len());
        let d = Diagnostic::warning(codes::W_STUDY, message)
            .hint("each of them is run once; `design: full` takes all combinations");
        ctx.warn(d, root, &steps!["study", "design"]);
    }
    Some(Combined {
        axes: distinct,
        rows: Some(rows),
    })
}

/// The points at places between 0 and 1, which are listed by axis.
fn at_places<'n>(
    ctx: &mut Ctx<'_>,
    root: &Node,
    values: Vec<Values<'n>>,
    columns: &[Vec<f64>],
    design: &DesignSpec,
) -> Option<Combined<'n>> {
    let axes = values
        .into_iter()
        .zip(columns)
        .map(|(values, places)| match values {
            Values::Listed(choices) => {
                let last = choices.len() - 1;
                let at = |u: &f64| ((u * choices.len() as f64) as usize).min(last);
                places.iter().map(|u| choices[at(u)].clone()).collect()
            }
            Values::Between(between) => {
                let label = |u: &f64| between.range.at(*u, parts(design, places.len()));
                places.iter().map(|u| between.choice(label(u))).collect()
            }
        });
    let combined = together(ctx, root, axes.collect())?;
    Some(sorted(combined))
}

/// The places of points that are given, by axis; none after an error was reported.
fn given_places(
    ctx: &mut Ctx<'_>,
    root: &Node,
    given: &GivenSpec,
    axes: usize,
) -> Option<Vec<Vec<f64>>> {
    let before = ctx.error_count();
    let at = |i: Option<usize>| -> Vec<Step> {
        let mut path = steps!["study", "design", "given", "points"].to_vec();
        path.extend(i.map(Step::from));
        path
    };
    if given.points.is_empty() || given.points.len() > MAX_POINTS {
        let message = format!("a study has 1 to {MAX_POINTS} points");
        let d = Diagnostic::error(codes::BAD_STUDY, message)
            .hint("write a list of numbers from 0 to 1 for each point");
        ctx.error(d, root, &at(None));
    }
    for (i, point) in given.points.iter().enumerate() {
        let message = if point.len() != axes {
            let found = point.len();
            format!("a point here has a number for each of the {axes} axes, and not {found}")
        } else if let Some(u) = point.iter().find(|u| !(0.0..=1.0).contains(*u)) {
            format!("a place on an axis is a number from 0 to 1, and not {u}")
        } else {
            continue;
        };
        let d = Diagnostic::error(codes::BAD_STUDY, message)
            .hint("write a number from 0 to 1 for each axis, in their order");
        ctx.error(d, root, &at(Some(i)));
    }
    let column = |k: usize| given.points.iter().map(|p| p[k]).collect();
    (ctx.error_count() == before).then(|| (0..axes).map(column).collect())
}

/// The places of points that are drawn, by axis; none after an error was reported.
fn drawn_places(
    ctx: &mut Ctx<'_>,
    (scenario, root): (&Scenario, &Node),
    (design, drawn): (&DesignSpec, DrawnSpec),
) -> Option<Vec<Vec<f64>>> {
    let count = drawn.points as usize;
    let sobol = matches!(design, DesignSpec::Sobol(_));
    let at = |key: &str| -> Vec<Step> { steps!["study", "design", design.name(), key].to_vec() };
    let problem = match count {
        0 => Some("a design has at least one point".to_owned()),
        n if n > MAX_POINTS => Some(format!("a study has at most {MAX_POINTS} points")),
        n if sobol && n > MAX_SOBOL.0 => Some(format!(
            "a Sobol sequence has at most {} points",
            MAX_SOBOL.0
        )),
        _ if sobol && scenario.axes.len() > MAX_SOBOL.1 => {
            Some(format!("a Sobol sequence has at most {} axes", MAX_SOBOL.1))
        }
        _ => None,
    };
    if let Some(problem) = problem {
        let d = Diagnostic::error(codes::BAD_STUDY, problem)
            .hint("a `latin-hypercube` or `random` design may have more");
        let d = if sobol {
            d
        } else {
            Diagnostic { hint: None, ..d }
        };
        ctx.error(d, root, &at("points"));
        return None;
    }
    if sobol && !count.is_power_of_two() {
        let message = format!("{count} points of a Sobol sequence are not evenly spread");
        let d = Diagnostic::warning(codes::W_STUDY, message).hint(format!(
            "take a power of two, such as {}",
            count.next_power_of_two()
        ));
        ctx.warn(d, root, &at("points"));
    }
    let names = scenario.axes.iter().enumerate();
    Some(
        names
            .map(|(i, a)| places(design, drawn, &a.name, i))
            .collect(),
    )
}

/// Into how many parts values divide a range. Points of a longer sequence begin with those of a
/// shorter one; those of a hypercube must stay in their part.
fn parts(design: &DesignSpec, count: usize) -> f64 {
    match design {
        DesignSpec::LatinHypercube(_) => PARTS.max(100.0 * count as f64),
        _ => PARTS,
    }
}

/// A place between 0 and 1 for each point on one axis.
fn places(design: &DesignSpec, drawn: DrawnSpec, name: &str, axis: usize) -> Vec<f64> {
    let mut rng = Rng::named(u64::from(drawn.seed), 0, name, design.name());
    match design {
        DesignSpec::Sobol(_) => (0..drawn.points)
            .map(|i| f64::from(sobol_burley::sample(i, axis as u32, drawn.seed)))
            .collect(),
        DesignSpec::LatinHypercube(_) => {
            let mut order: Vec<u32> = (0..drawn.points).collect();
            for i in (1..drawn.points).rev() {
                order.swap(i as usize, rng.below(i + 1) as usize);
            }
            let width = f64::from(drawn.points);
            order
                .iter()
                .map(|i| (f64::from(*i) + rng.f64()) / width)
                .collect()
        }
        _ => (0..drawn.points).map(|_| rng.f64()).collect(),
    }
}

/// The values of each axis in ascending order, where they are quantities.
fn sorted(combined: Combined<'_>) -> Combined<'_> {
    let Combined { mut axes, mut rows } = combined;
    for (axis, choices) in axes.iter_mut().enumerate() {
        let labels: Vec<String> = choices.iter().map(|c| c.label.clone()).collect();
        let Some((_, numbers)) = crate::axes::quantities(&labels) else {
            continue;
        };
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by(|a, b| numbers[*a].total_cmp(&numbers[*b]));
        let mut place = vec![0; order.len()];
        for (at, i) in order.iter().enumerate() {
            place[*i] = at as u32;
        }
        *choices = order.iter().map(|i| choices[*i].clone()).collect();
        for row in rows.iter_mut().flatten() {
            row[axis] = place[row[axis] as usize];
        }
    }
    Combined { axes, rows }
}
