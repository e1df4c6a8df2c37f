//! From a scenario file to a plan.
//!
//! Text -> tree with places -> policies of configurations -> overrides -> [`Scenario`] -> [`Plan`].
//! A point is the tree with its own settings applied; it is lowered like a scenario of its own.
//! Each stage reports all errors that it finds; the next begins when there are none.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use spillgate_core::{Overhead, Rate};
use spillgate_nodes::atm::AtmSpec;
use spillgate_queueing::Line;
use spillgate_queueing::spec::DisciplineSpec;

use crate::agreements;
use crate::codes;
use crate::ctx::{Ctx, reason};
use crate::de::from_node;
use crate::error::{Diagnostic, Diagnostics};
use crate::hash;
use crate::import::{Files, Importer};
use crate::lower::{self, Shared};
use crate::node::{Node, Step, Value, steps};
use crate::originals::Originals;
use crate::outages;
use crate::own::Own;
use crate::plan::{Plan, VariantPlan};
use crate::points::{Grid, Point};
use crate::schema::{Scenario, SlaSpec};
use crate::set::{self, Stage};
use crate::splice;
use crate::text::decode;
use crate::yaml;

/// What the command line adds to a scenario file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Replaced values, each `path=value` as for `--set`, applied in order.
    pub overrides: Vec<String>,
    /// Files of requirements beside the file's, relative to its directory.
    pub sla: Vec<String>,
    /// Master seed in place of the file's.
    pub seed: Option<u64>,
    /// Number of runs in place of the file's.
    pub runs: Option<u32>,
    /// Refuses files outside the scenario's folder, but for [`Options::sla`].
    pub confine: bool,
    /// The bytes available for points and their results: no more points are made than fit. None: no
    /// limit.
    pub memory: Option<u64>,
    /// Which points are made; of the others there is nothing in the plan.
    pub points: Chosen,
    /// AQMs and schedulers of one's own, which the scenario names.
    pub own: Own,
}

/// Points of a scenario that are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Chosen {
    /// All of them.
    #[default]
    All,
    /// The first, and those that differ from it in one axis: every value of every axis once.
    Edges,
    /// Those with these numbers, in this order. Numbers from [`Plan::extent`] on are passed over.
    These(Vec<usize>),
    /// The one of this name, without the axes that it is on.
    Named(String),
}

/// A scenario that was read and found valid.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The scenario as written, with overrides applied. The policies of configurations and the
    /// classes of tables are left out, since the file does not have them.
    pub scenario: Scenario,
    /// The plan that will run.
    pub plan: Plan,
}

/// The policies of one variant, and the links that have them.
#[derive(Clone, Debug)]
pub struct PortPolicies {
    /// Name of the variant.
    pub variant: String,
    /// Every policy of the scenario and of its configurations, by name.
    pub policies: BTreeMap<String, DisciplineSpec>,
    /// Links with a policy, in the order of their names; of a group one entry.
    pub links: Vec<LinkPolicy>,
    /// The policies at the receiving ends of links, in the order of the links' ids; one entry for a
    /// group.
    pub inputs: Vec<InputPolicy>,
    /// The texts of its configurations, as written.
    pub originals: Vec<Originals>,
}

/// A policy at the receiving end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputPolicy {
    /// Its name.
    pub policy: String,
    /// The link that leaves by the interface where the policy acts, by its written name or as a
    /// reverse link; none if no link or several links lead back.
    pub interface: Option<String>,
    /// The rate of the link over which packets arrive.
    pub rate: Rate,
    /// Whether the frames of that link carry an 802.1Q tag.
    pub dot1q: bool,
}

/// A link with a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkPolicy {
    /// Name of the link, as the scenario writes it.
    pub link: String,
    /// Name of its policy.
    pub policy: String,
    /// The line for which the policy is resolved.
    pub line: Line,
    /// What the link adds to each IP packet.
    pub overhead: Overhead,
    /// Whether its frames carry an 802.1Q tag.
    pub dot1q: bool,
    /// The circuit of ATM that it is, if it is one.
    pub atm: Option<AtmSpec>,
    /// The packets of its transmit ring, if the scenario or a configuration states them.
    pub tx_ring: Option<u32>,
}

/// Reads which links of a scenario have which policies, by variant.
///
/// # Errors
/// Those of [`load`].
pub fn port_policies(
    path: &Path,
    files: &dyn Files,
    importer: &dyn Importer,
    opts: &Options,
) -> Result<Vec<PortPolicies>, Diagnostics> {
    each_point(path, files, importer, opts, |ctx, t| {
        lower::ports(ctx, &t.point.name, &t.scenario, &t.root)
    })
}

/// Each point as a scenario of its own, with all that overrides and the point's variant and axes
/// say. The policies of configurations and the classes of tables are left out, as in [`load`].
///
/// # Errors
/// Those of [`load`].
pub fn points_alone(
    path: &Path,
    files: &dyn Files,
    importer: &dyn Importer,
    opts: &Options,
) -> Result<Vec<Scenario>, Diagnostics> {
    each_point(path, files, importer, opts, |ctx, t| {
        let mut scenario = Scenario {
            variants: Vec::new(),
            axes: Vec::new(),
            study: None,
            ..t.scenario
        };
        let imported = |name: &str| splice::is_imported(&ctx.texts, &t.root, name);
        scenario.policies.retain(|name, _| !imported(name));
        agreements::remove(&ctx.texts, &t.root, &mut scenario);
        scenario
    })
}

/// What `made` makes of each point of a scenario that is valid.
fn each_point<T>(
    path: &Path,
    files: &dyn Files,
    importer: &dyn Importer,
    opts: &Options,
    mut made: impl FnMut(&mut Ctx<'_>, Tree<'_>) -> T,
) -> Result<Vec<T>, Diagnostics> {
    load(path, files, importer, opts)?;
    let mut ctx = Ctx::new(path, files, importer, opts);
    let mut all = Vec::new();
    let mut read = |ctx: &mut Ctx<'_>| {
        let source = Source::read(ctx, path, files, opts)?;
        let scenario = typed(ctx, &source.root, &[])?;
        let grid = Grid::of(ctx, &scenario, &source.root)?;
        points(ctx, &source, &scenario, &grid, |ctx, t| {
            all.push(made(ctx, t));
            true
        });
        Some(())
    };
    match read(&mut ctx) {
        Some(()) if ctx.is_fine() => Ok(all),
        _ => Err(ctx.into_errors()),
    }
}

/// Reads a scenario with everything it refers to, and checks all of it.
///
/// # Errors
/// Everything that is wrong, in the order of the input.
pub fn load(
    path: &Path,
    files: &dyn Files,
    importer: &dyn Importer,
    opts: &Options,
) -> Result<Loaded, Diagnostics> {
    let mut ctx = Ctx::new(path, files, importer, opts);
    match run(&mut ctx, path, files, opts) {
        Some((mut scenario, plan, source)) if ctx.is_fine() => {
            let imported = |name: &str| splice::is_imported(&ctx.texts, &source.root, name);
            scenario.policies.retain(|name, _| !imported(name));
            agreements::remove(&ctx.texts, &source.root, &mut scenario);
            let (warnings, unmodelled) = ctx.finish();
            let plan = Plan {
                warnings,
                unmodelled,
                ..plan
            };
            Ok(Loaded { scenario, plan })
        }
        _ => Err(ctx.into_errors()),
    }
}

/// The error for a router configuration in place of a scenario, at the line that reveals it.
fn router(name: &str, text: &str) -> Option<Diagnostic> {
    const HEADS: [&str; 4] = ["policy-map ", "class-map ", "interface ", "hostname "];
    let lines = (1_u32..).zip(text.lines());
    let mut heads = lines.filter(|(_, l)| HEADS.iter().any(|h| l.starts_with(h)));
    let (number, line) = heads.next()?;
    let message = "this is a router's configuration, not a scenario";
    let hint = format!(
        "`spillgate import {name}` says what is understood of it; a scenario names it: `configs: [{{ios: {name}, interfaces: ..}}]`"
    );
    let mut d = Diagnostic::error(codes::WRONG_TYPE, message).at(name, number, 1);
    d.source = Some(line.to_owned());
    Some(d.hint(hint))
}

/// None only after an error was reported.
pub(crate) fn run<'o>(
    ctx: &mut Ctx<'_>,
    path: &Path,
    files: &dyn Files,
    opts: &'o Options,
) -> Option<(Scenario, Plan, Source<'o>)> {
    let source = Source::read(ctx, path, files, opts)?;
    let root = &source.root;
    check_version(ctx, root)?;
    let mut scenario: Scenario = typed(ctx, root, &[])?;
    if let Some(seed) = opts.seed {
        scenario.runs.seed = seed;
    }
    if let Some(runs) = opts.runs {
        scenario.runs.count = runs;
    }
    let mut shared = Shared::default();
    let grid = Grid::of(ctx, &scenario, root)?;
    let wanted = chosen(ctx, &grid, opts)?.len();
    let axes = match opts.points {
        Chosen::Named(_) => Vec::new(),
        _ => grid.axes(),
    };
    let mut plans = Vec::new();
    let whole = points(ctx, &source, &scenario, &grid, |ctx, t| {
        let Some(world) = lower::world(ctx, &mut shared, &t.scenario, &t.root) else {
            return true;
        };
        // Further points are about as large as the first.
        let first = opts.memory.filter(|_| plans.is_empty());
        let runs = scenario.runs.count;
        if let Some(d) = first.and_then(|m| world.check_points(wanted, runs, m)) {
            let of = if grid.has_axes() { "axes" } else { "variants" };
            ctx.error(d, root, &steps![of]);
            return false;
        }
        plans.push(VariantPlan {
            name: t.point.name,
            variant: t.point.variant,
            coordinates: t.point.coordinates,
            text: hash::of_point(&t.root, &world),
            world: Arc::new(world),
            same: None,
            shift: None,
        });
        true
    });
    if !whole {
        return None;
    }
    if let Some(axis) = grid.failures() {
        outages::screen(&mut plans, axis);
        // The others were made to compare with.
        plans.truncate(wanted);
        for plan in &mut plans {
            plan.same = plan.same.filter(|same| *same < wanted);
        }
    }
    lower::runs(ctx, &scenario, root, opts.runs.is_some());
    if opts.points == Chosen::All {
        ctx.check_own();
        lower::unused_policies(ctx, &shared, &scenario, root);
    }
    // Requirements of customers in files beside the scenario are not part of it.
    let beside: Vec<String> = opts
        .sla
        .iter()
        .filter(|f| !scenario.sla.iter().any(|s| s.file.as_ref() == Some(f)))
        .cloned()
        .collect();
    let mut required = scenario.sla.clone();
    required.extend(beside.iter().map(|file| SlaSpec {
        file: Some(file.clone()),
        ..SlaSpec::default()
    }));
    let against = lower::against(ctx, &scenario, root, &plans);
    let replication = lower::replication(ctx, &scenario, root, &plans);
    lower::level(ctx, &scenario, root);
    let sla = lower::sla(ctx, &scenario, &required, root, &mut plans);
    if !ctx.is_fine() {
        return None;
    }
    hash::add_files(&mut plans, ctx, &beside);
    let plan = Plan {
        against: against?,
        pairs: lower::compares_all(&scenario),
        name: title(&scenario, path),
        seed: scenario.runs.seed,
        runs: scenario.runs.count,
        axes,
        design: grid.design(),
        replication,
        extent: grid.len(),
        variants: plans,
        sla,
        correction: scenario.verdicts.correction,
        level: scenario.verdicts.level.0,
        looks: scenario.verdicts.looks,
        warnings: Vec::new(),
        unmodelled: Vec::new(),
        files: ctx.opened(),
        outside: ctx.outside(),
        hash: hash::of(&scenario, ctx, &beside),
    };
    Some((scenario, plan, source))
}

/// The numbers of the points that are chosen; none after an error was reported.
fn chosen(ctx: &mut Ctx<'_>, grid: &Grid<'_>, opts: &Options) -> Option<Vec<usize>> {
    let found = grid.chosen(&opts.points);
    let (Chosen::Named(name), []) = (&opts.points, &*found) else {
        return Some(found);
    };
    let names: Vec<String> = (0..grid.len()).map(|i| grid.point(i).name).collect();
    let message = format!("there is no variant `{name}`");
    let d = Diagnostic::error(codes::UNKNOWN_VARIANT, message);
    ctx.report(d.hint(format!("variants: {}", names.join(", "))));
    None
}

/// The title, or the file's name without its ending.
fn title(scenario: &Scenario, path: &Path) -> String {
    if !scenario.name.trim().is_empty() {
        return scenario.name.clone();
    }
    path.file_stem().map_or_else(
        || "scenario".to_owned(),
        |s| s.to_string_lossy().into_owned(),
    )
}

/// The tree that variants begin with.
pub(crate) struct Source<'o> {
    /// The tree with the policies of configurations, the classes of tables, and overrides.
    pub(crate) root: Node,
    /// The tree without these, and with overrides only below `configs` and `agreements`; none if
    /// the scenario has neither.
    bare: Option<Node>,
    overrides: &'o [String],
    chosen: &'o Chosen,
}

impl<'o> Source<'o> {
    /// Reads a scenario's text; none only after an error was reported.
    pub(crate) fn read(
        ctx: &mut Ctx<'_>,
        path: &Path,
        files: &dyn Files,
        opts: &'o Options,
    ) -> Option<Self> {
        let overrides = &opts.overrides[..];
        let mut root = parse(ctx, path, files)?;
        replace(ctx, &mut root, overrides, Stage::Configs);
        if !ctx.is_fine() {
            return None;
        }
        let files = ["configs", "agreements"]
            .iter()
            .any(|k| root.get(k).is_some());
        let bare = files.then(|| root.clone());
        splice::configurations(ctx, &mut root);
        agreements::splice(ctx, &mut root);
        ctx.name_own(&mut root);
        replace(ctx, &mut root, overrides, Stage::Rest);
        ctx.name_own(&mut root);
        ctx.is_fine().then_some(Self {
            root,
            bare,
            overrides,
            chosen: &opts.points,
        })
    }

    /// The tree of a point; none after an error was reported. `stem`: the common tree of all points
    /// without configurations of their own.
    fn point(&self, ctx: &mut Ctx<'_>, stem: &Node, point: &Point<'_>) -> Option<Node> {
        let before = ctx.error_count();
        let set = |ctx: &mut Ctx<'_>, copy: &mut Node, stage| {
            if let Err(ds) = set::point(copy, point, stage, &ctx.texts) {
                ctx.report_all(ds);
            }
        };
        let own = set::sets_configs(point);
        let mut copy = match &self.bare {
            Some(bare) if own => common(bare),
            _ => stem.clone(),
        };
        if own {
            set(ctx, &mut copy, Stage::Configs);
            splice::configurations(ctx, &mut copy);
            agreements::splice(ctx, &mut copy);
            if self.bare.is_some() {
                ctx.name_own(&mut copy);
                replace(ctx, &mut copy, self.overrides, Stage::Rest);
            }
        }
        set(ctx, &mut copy, Stage::Rest);
        ctx.name_own(&mut copy);
        (ctx.error_count() == before).then_some(copy)
    }
}

/// Applies the overrides of one stage.
fn replace(ctx: &mut Ctx<'_>, root: &mut Node, overrides: &[String], stage: Stage) {
    for assignment in overrides
        .iter()
        .filter(|o| Stage::of_assignment(o) == stage)
    {
        if let Err(ds) = set::command_line(root, assignment, &mut ctx.texts) {
            ctx.report_all(ds);
        }
    }
}

/// The scenario's text as a tree.
fn parse(ctx: &mut Ctx<'_>, path: &Path, files: &dyn Files) -> Option<Node> {
    let name = path.display().to_string();
    if let Some(d) = ctx.refused(path) {
        ctx.report(d.in_file(name));
        return None;
    }
    let bytes = match files.read(path) {
        Ok(bytes) => bytes,
        Err(e) => {
            let message = format!("cannot read the scenario: {}", reason(&e));
            ctx.report(Diagnostic::error(codes::UNREADABLE, message).in_file(name));
            return None;
        }
    };
    let text = ctx.texts.file(&name, &bytes);
    let content = decode(&name, &bytes).map_err(|d| ctx.report(d)).ok()?;
    let parsed = yaml::parse(content, text, &ctx.texts);
    let readable = |n: &Node| matches!(n.value, Value::Map(_) | Value::Null);
    if !parsed.as_ref().is_ok_and(readable) {
        if let Some(d) = router(&name, content) {
            ctx.report(d);
            return None;
        }
    }
    let root = parsed.map_err(|ds| ctx.report_all(ds)).ok()?;
    if root.value == Value::Null {
        let d = Diagnostic::error(codes::EMPTY, "the scenario is empty")
            .hint("a scenario begins with `schema_version: 1`");
        ctx.error(d, &root, &[]);
        return None;
    }
    Some(root)
}

/// Another version has other keys, whose errors would mislead.
fn check_version(ctx: &mut Ctx<'_>, root: &Node) -> Option<()> {
    match root.get("schema_version").map(|n| &n.value) {
        Some(Value::Int(n, _)) if *n != 1 => {
            let d = Diagnostic::error(
                codes::BAD_VERSION,
                format!("version {n} of the format is not known"),
            )
            .hint("this release reads `schema_version: 1`");
            ctx.error(d, root, &steps!["schema_version"]);
            None
        }
        _ => Some(()),
    }
}

pub(crate) fn typed(ctx: &mut Ctx<'_>, root: &Node, base: &[Step]) -> Option<Scenario> {
    let own = ctx.own();
    let read = from_node(root, &ctx.texts, base);
    let mut scenario = read
        .map_err(|ds| ctx.report_all(ds.into_iter().map(|d| own.offered(d))))
        .ok()?;
    own.bind(&mut scenario);
    Some(scenario)
}

/// The part of the tree that all points have in common.
fn common(root: &Node) -> Node {
    // If each point kept the `set` of all others, memory would grow with the square of their
    // number.
    root.without("variants").without("axes").without("study")
}

/// A scenario to lower, with the tree that it came from.
pub(crate) struct Tree<'g> {
    pub(crate) point: Point<'g>,
    pub(crate) scenario: Scenario,
    pub(crate) root: Node,
}

/// Makes the tree of each point that is chosen and passes it to `each`, one after the other, since
/// each tree is as large as the scenario. A scenario with a single point passes its own tree. After
/// an error further trees are made only for their errors. False if a tree could not be made, or if
/// `each` stops.
pub(crate) fn points<'a>(
    ctx: &mut Ctx<'a>,
    source: &Source<'_>,
    scenario: &Scenario,
    grid: &Grid<'_>,
    mut each: impl FnMut(&mut Ctx<'a>, Tree<'_>) -> bool,
) -> bool {
    let root = &source.root;
    if grid.is_single() {
        let tree = Tree {
            point: grid.point(0),
            scenario: scenario.clone(),
            root: root.clone(),
        };
        return each(ctx, tree);
    }
    let mut whole = true;
    let stem = common(root);
    let mut chosen = grid.chosen(source.chosen);
    chosen.extend(grid.references(&chosen));
    for i in chosen {
        let point = grid.point(i);
        ctx.at_point(Some(i));
        let copy = source.point(ctx, &stem, &point);
        let made = copy.and_then(|copy| Some((typed(ctx, &copy, &[])?, copy)));
        whole &= made.is_some();
        if let Some((scenario, root)) = made.filter(|_| whole) {
            let tree = Tree {
                point,
                scenario,
                root,
            };
            if !each(ctx, tree) {
                whole = false;
                break;
            }
        }
    }
    ctx.at_point(None);
    whole
}
