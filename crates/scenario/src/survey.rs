//! A scenario with the places of its policies, for the linter.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spillgate_queueing::spec::DisciplineSpec;

use crate::ctx::Ctx;
use crate::error::{Diagnostic, Diagnostics};
use crate::import::{Files, Importer};
use crate::load::{self, Options};
use crate::lower;
use crate::node::{Node, Step, Value};
use crate::plan::Plan;
use crate::points::Grid;
use crate::splice;
use crate::text::Texts;

/// A valid scenario and the places of its policies.
#[derive(Debug)]
pub struct Surveyed {
    /// The plan that will run.
    pub plan: Plan,
    /// The warnings of the loader with places and the points that they concern; no points if a
    /// warning concerns the whole scenario.
    pub warnings: Vec<(Diagnostic, Vec<usize>)>,
    /// Its variants, in the order of [`Plan::variants`].
    pub variants: Vec<Variant>,
    texts: Texts,
}

/// One point. Points share equal parts.
#[derive(Debug)]
pub struct Variant {
    /// Every policy of the scenario and of its configurations, by name. Conditions on the link of
    /// arrival have the names of links.
    pub policies: Arc<BTreeMap<String, DisciplineSpec>>,
    /// The configurations that it refers to.
    pub configs: Vec<PathBuf>,
    /// The plan of the world without its traffic.
    root: Arc<Node>,
}

/// How many of the last points are compared with a new one, to share parts.
const NEAR: usize = 100;

/// The equal value of one of the last points, or a new one.
fn shared<'v, T: PartialEq + 'v>(last: impl Iterator<Item = &'v Arc<T>>, value: T) -> Arc<T> {
    let mut last = last;
    let found = last.find(|known| ***known == value);
    found.map_or_else(|| Arc::new(value), Arc::clone)
}

impl Surveyed {
    /// A diagnostic at a key of a policy (and of a class of it): `key` is `aqm.wred`, say, or empty
    /// for the policy or class itself. Where there is no such key, the nearest place above it.
    #[must_use]
    pub fn place(
        &self,
        variant: usize,
        policy: &str,
        class: Option<usize>,
        key: &str,
        d: Diagnostic,
    ) -> Diagnostic {
        let Some(v) = self.variants.get(variant) else {
            return d;
        };
        let kind = v.policies.get(policy).map_or("", DisciplineSpec::kind);
        let path = policy_path(policy, kind, class, key);
        self.texts.place(d, v.root.nearest(&path), &path)
    }

    /// A diagnostic at the value of a path of keys, or the nearest place above it.
    #[must_use]
    pub fn place_at(&self, variant: usize, keys: &[&str], d: Diagnostic) -> Diagnostic {
        let Some(v) = self.variants.get(variant) else {
            return d;
        };
        let path: Vec<Step> = keys.iter().map(|k| Step::from(*k)).collect();
        self.texts.place(d, v.root.nearest(&path), &path)
    }

    /// A diagnostic at a key of a node, such as `switch.buffer.limit`, or the nearest place above
    /// it.
    #[must_use]
    pub fn place_at_node(
        &self,
        variant: usize,
        node: &str,
        key: &str,
        d: Diagnostic,
    ) -> Diagnostic {
        let Some(v) = self.variants.get(variant) else {
            return d;
        };
        let mut path = vec![Step::from("topology"), Step::from("nodes")];
        let nodes = path.iter().try_fold(&*v.root, |n, s| n.step(s));
        let nodes = match nodes.map(|n| &n.value) {
            Some(Value::Seq(nodes)) => &nodes[..],
            _ => &[],
        };
        // Members of a group have its name and a number.
        let group = node.rsplit_once('-').map(|(group, _)| group);
        let named = |n: &Node, name: &str| n.get("name").and_then(Node::text) == Some(name);
        let found = nodes.iter().position(|n| named(n, node));
        let found = found.or_else(|| {
            nodes
                .iter()
                .position(|n| group.is_some_and(|g| named(n, g)))
        });
        path.extend(found.map(Step::from));
        path.extend(key.split('.').filter(|_| found.is_some()).map(Step::from));
        self.texts.place(d, v.root.nearest(&path), &path)
    }

    /// The keys of the table at a path of keys in a variant of the scenario, in order; none if
    /// there is no table.
    pub fn keys(&self, variant: usize, path: &[&str]) -> impl Iterator<Item = &str> {
        let root = self.variants.get(variant).map(|v| &*v.root);
        let table = path
            .iter()
            .fold(root, |node, key| node.and_then(|n| n.get(key)));
        let entries = match table.map(|n| &n.value) {
            Some(Value::Map(entries)) => &entries[..],
            _ => &[],
        };
        entries.iter().map(|(key, _)| key.name.as_str())
    }

    /// Whether the scenario itself, not one of its configurations, has a policy.
    pub fn is_inline(&self, variant: usize, policy: &str) -> bool {
        let Some(v) = self.variants.get(variant) else {
            return false;
        };
        v.policies.contains_key(policy) && !splice::is_imported(&self.texts, &v.root, policy)
    }
}

fn policy_path(policy: &str, kind: &str, class: Option<usize>, key: &str) -> Vec<Step> {
    let mut steps = vec![
        Step::Key("policies".to_owned()),
        Step::Key(policy.to_owned()),
        Step::Key(kind.to_owned()),
    ];
    if let Some(class) = class {
        steps.push(Step::Key("classes".to_owned()));
        steps.push(Step::Index(class));
    }
    // A class is named by the first of its keys.
    let key = if class.is_some() && key.is_empty() {
        "name"
    } else {
        key
    };
    let keys = key.split('.').filter(|k| !k.is_empty());
    steps.extend(keys.map(|k| Step::Key(k.to_owned())));
    steps
}

/// Reads a scenario as [`load()`](crate::load()) does, and keeps the places.
///
/// # Errors
/// Those of [`load()`](crate::load()).
pub fn survey(
    path: &Path,
    files: &dyn Files,
    importer: &dyn Importer,
    opts: &Options,
) -> Result<Surveyed, Diagnostics> {
    let mut ctx = Ctx::new(path, files, importer, opts);
    let found = read(&mut ctx, path, files, opts);
    match found {
        Some((plan, variants)) if ctx.is_fine() => {
            let (warnings, texts) = ctx.into_warnings();
            Ok(Surveyed {
                plan,
                warnings,
                variants,
                texts,
            })
        }
        _ => Err(ctx.into_errors()),
    }
}

fn read(
    ctx: &mut Ctx<'_>,
    path: &Path,
    files: &dyn Files,
    opts: &Options,
) -> Option<(Plan, Vec<Variant>)> {
    let (scenario, plan, source) = load::run(ctx, path, files, opts)?;
    let dir = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut variants = Vec::with_capacity(plan.variants.len());
    let grid = Grid::of(ctx, &scenario, &source.root)?;
    load::points(ctx, &source, &scenario, &grid, |ctx, t| {
        let configs = t.scenario.configs.iter();
        let configs = configs.map(|c| dir.join(c.file())).collect();
        let policies = lower::policies_with_links(ctx, &t.scenario, &t.root);
        let last = || variants.iter().rev().take(NEAR);
        let variant = Variant {
            policies: shared(last().map(|v: &Variant| &v.policies), policies),
            configs,
            root: shared(last().map(|v| &v.root), t.root.without("traffic")),
        };
        variants.push(variant);
        true
    });
    Some((plan, variants))
}
