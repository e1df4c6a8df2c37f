//! From a class-based policy as written to a running tree.

use spillgate_core::Rate;

use super::check::{check_class, check_names, check_scheduler, check_sums, warn_unqueued};
use super::divide::{Enclosing, maximum};
use super::parts::{asks_for_queue, leaf, priority_leaf, shaper, steps, thresholds, wants};
use super::rule::{Rule, Turns, weigh};
use super::shares::{SLOTS, Share, Want, shares};
use super::{ClassState, Content, LeafPlace, Node, Route, Sent, Tree};
use crate::classify::{Classifier, Entry, Rules, Target};
use crate::condition::{Step, TokenBucket};
use crate::leaf::Leaf;
use crate::recipe::{At, valid_names};
use crate::spec::{ClassBasedSpec, ClassSpec, DisciplineSpec, MatchSpec, Scope, ShaperKind};
use spillgate_core::Problem;

pub(crate) const DEFAULT: &str = "class-default";
/// The largest number of classes and routes of a policy with all policies nested in it.
const MAX_ROUTES: usize = 4096;
/// The largest depth of nesting.
pub(crate) const MAX_DEPTH: usize = 8;

/// Builds the tree of the policy `scope.name`.
pub(crate) fn resolve(
    spec: &ClassBasedSpec,
    at: &mut At<'_>,
    scope: &Scope<'_>,
) -> Result<Tree, Problem> {
    let mut b = Builder {
        scope,
        stack: vec![scope.name.to_owned()],
        descriptions: Vec::new(),
        names: Vec::new(),
        places: Vec::new(),
        leaves: Vec::new(),
        nodes: Vec::new(),
        classes: Vec::new(),
        shapers: Vec::new(),
        steps: Vec::new(),
        routes: Vec::new(),
        route_steps: Vec::new(),
        rules: Rules::default(),
    };
    let around = Around {
        parent: None,
        prefix: String::new(),
        longest: u32::MAX,
    };
    b.policy(spec, at, scope.line.into(), around)?;
    b.classification(0, &[], at)?;
    let remembers_sent = b.nodes.iter().any(|n| n.rule != Rule::Finish);
    let mut tree = Tree {
        classifier: Classifier::new(b.rules),
        routes: b.routes,
        route_steps: b.route_steps,
        steps: b.steps,
        leaves: b.leaves,
        places: b.places,
        nodes: b.nodes,
        classes: b.classes,
        shapers: b.shapers,
        arrivals: 0,
        sent: Sent::default(),
        remembers_sent,
        names: b.names.into(),
        counted: scope.line.counting.queues,
        refused_by: None,
        last_route: 0,
        known: u32::MAX,
        unknown: 0,
    };
    if tree.looks_at_flow() {
        tree.known = 0;
    }
    Ok(tree)
}

/// The surroundings of a policy.
struct Around {
    parent: Option<u16>,
    /// `PARENT/` for names of leaves.
    prefix: String,
    /// The smallest burst of the enclosing shapers.
    longest: u32,
}

/// A class as the classifier sees it.
struct Description {
    matching: Option<MatchSpec>,
    /// Where its packets are queued; none: with those of `class-default`.
    content: Option<Content>,
    /// Its own conditioning, as indexes of steps.
    steps: Vec<u16>,
}

struct Builder<'a> {
    scope: &'a Scope<'a>,
    /// Names of the policies being resolved, outermost first.
    stack: Vec<String>,
    /// By node.
    descriptions: Vec<Vec<Description>>,
    names: Vec<String>,
    places: Vec<LeafPlace>,
    leaves: Vec<Leaf>,
    nodes: Vec<Node>,
    classes: Vec<ClassState>,
    shapers: Vec<TokenBucket>,
    steps: Vec<Step>,
    routes: Vec<Route>,
    route_steps: Vec<u16>,
    rules: Rules,
}

impl Builder<'_> {
    /// Adds a policy and returns its node.
    fn policy(
        &mut self,
        spec: &ClassBasedSpec,
        at: &mut At<'_>,
        inside: Enclosing,
        around: Around,
    ) -> Result<u16, Problem> {
        let Enclosing { rate, most, .. } = inside;
        let mut classes = spec.classes.clone();
        if classes.last().is_none_or(|c| c.name != DEFAULT) {
            classes.push(ClassSpec {
                name: DEFAULT.to_owned(),
                ..ClassSpec::default()
            });
        }
        check_names(&classes, at).map_err(Problem::misfit)?;
        let queued: Vec<bool> = classes
            .iter()
            .map(|c| c.name == DEFAULT || asks_for_queue(c))
            .collect();
        for (i, c) in classes.iter().enumerate() {
            at.index("classes", i, |at| check_class(c, at))?;
        }
        warn_unqueued(&classes, &queued, at);
        let wants = wants(spec, classes.iter(), rate);
        let cite = |problem: Problem| problem.cite(spec.scheduler.source());
        check_scheduler(spec, &classes, &wants, at).map_err(cite)?;
        check_sums(&classes, &wants, rate, at)?;
        // Classes without a queue take no part in the division.
        let dividing: Vec<Want> = wants
            .iter()
            .zip(&queued)
            .filter_map(|(w, q)| q.then_some(*w))
            .collect();
        let divided = shares(&dividing, rate);
        let weights = weigh(spec, &divided, rate, self.scope.line.longest, at).map_err(cite)?;
        let mut shares = divided.into_iter().zip(weights);
        let mut before = 0;

        let first = self.classes.len();
        let count = dividing.len();
        if first + count > MAX_ROUTES {
            return Err(too_large(at));
        }
        let node = self.nodes.len() as u16;
        self.nodes.push(Node {
            rule: Rule::of(spec.scheduler),
            sent: 0,
            v: [0; SLOTS],
            priority_packets: 0,
            first: first as u16,
            end: (first + count) as u16,
            parent: around.parent,
            gated: false,
        });
        self.descriptions.push(Vec::new());
        // The classes of a node lie side by side, so all are made before any nested policy.
        for _ in 0..count {
            self.classes.push(ClassState {
                start: 0,
                per_byte: 0,
                packets: 0,
                head: 0,
                node,
                content: Content::Leaf(0),
                shaper: None,
                level: 0,
                rank: 0,
                slot: 0,
                gated: false,
                turns: Turns::default(),
            });
        }
        let mut next = first;
        for (i, class) in classes.iter().enumerate() {
            let steps = {
                let name = format!("{}{}", around.prefix, class.name);
                let counting = self.scope.line.counting;
                at.index("classes", i, |at| steps(class, &name, inside, counting, at))?
            };
            let first_step = self.steps.len();
            self.steps.extend(steps);
            let steps = (first_step..self.steps.len()).map(|i| i as u16).collect();
            let content = if queued[i] {
                let id = next as u16;
                next += 1;
                let (share, weight) = shares.next().unwrap_or_default();
                let state = &mut self.classes[usize::from(id)];
                (state.per_byte, state.turns) = (weight.per_byte, weight.turns);
                (state.rank, state.slot) = match wants[i] {
                    Want::First => (before, SLOTS as u8 - 1),
                    _ => (before + share.rank, share.rank),
                };
                before += u8::from(wants[i] == Want::First);
                let place = Surroundings {
                    id,
                    rate,
                    most,
                    share,
                    want: wants[i],
                };
                Some(at.index("classes", i, |at| self.class(class, &place, &around, at))?)
            } else {
                None
            };
            self.descriptions[usize::from(node)].push(Description {
                matching: class.matching.clone(),
                content,
                steps,
            });
        }
        let gated = self.classes[first..first + count].iter().any(|c| c.gated);
        self.nodes[usize::from(node)].gated = gated;
        Ok(node)
    }

    /// Fills in a class that has a queue or a nested policy.
    fn class(
        &mut self,
        class: &ClassSpec,
        place: &Surroundings,
        around: &Around,
        at: &mut At<'_>,
    ) -> Result<Content, Problem> {
        let id = usize::from(place.id);
        let line = self.scope.line;
        let mut longest = around.longest;
        // What has no share may send at the whole rate when it sends.
        let mut guaranteed = match place.want {
            Want::First => place.rate,
            _ => place.share.of(place.rate).unwrap_or(place.rate),
        };
        let shaped = match &class.shape {
            Some(s) => Some(at.key("shape", |at| shaper(s, place.most, line.longest, at))?),
            None => None,
        };
        if let Some((rate, burst)) = shaped {
            guaranteed = guaranteed.min(rate);
            self.classes[id].shaper = Some(self.shapers.len() as u16);
            let kind = class.shape.as_ref().and_then(|s| s.kind);
            self.shapers.push(match kind {
                Some(ShaperKind::Htb) => TokenBucket::owing(rate, burst),
                None => {
                    longest = longest.min(u32::try_from(burst).unwrap_or(u32::MAX));
                    TokenBucket::new(rate, burst)
                }
            });
        }
        let level = class.priority.as_ref().map_or(0, |p| p.level);
        self.classes[id].level = level;
        self.classes[id].gated = shaped.is_some();
        if let Some(name) = &class.policy {
            let rate = match (shaped, place.want) {
                (Some((rate, _)), _) => rate,
                (None, Want::Rest | Want::First) => place.rate,
                _ => guaranteed,
            };
            let inner = Enclosing {
                rate,
                most: maximum(class, place.most),
                longest: line.longest,
            };
            let around = Around {
                parent: Some(place.id),
                prefix: format!("{}{}/", around.prefix, class.name),
                longest,
            };
            let node = self.nested(name, inner, around, at)?;
            self.classes[id].gated |= self.nodes[usize::from(node)].gated;
            self.classes[id].content = Content::Node(node);
            return Ok(Content::Node(node));
        }
        let (mut leaf, own) = match &class.priority {
            Some(p) => {
                let leaf = at.key("priority", |at| priority_leaf(p, place.rate, at))?;
                (leaf, p.rate.map_or(place.rate, |r| r.of(place.rate)))
            }
            None => (leaf(class, &line.at(guaranteed), at)?, guaranteed),
        };
        leaf.thresholds = thresholds(class, own, at)?;
        let content = Content::Leaf(self.leaves.len() as u16);
        self.leaves.push(leaf);
        self.names.push(format!("{}{}", around.prefix, class.name));
        self.places.push(LeafPlace {
            class: place.id,
            longest,
            priority: level > 0,
        });
        self.classes[id].content = content;
        Ok(content)
    }

    fn nested(
        &mut self,
        name: &String,
        inside: Enclosing,
        around: Around,
        at: &mut At<'_>,
    ) -> Result<u16, Problem> {
        let policies = self.scope.policies;
        if let Some(i) = self.stack.iter().position(|n| n == name) {
            let cycle = self.stack[i..].join(" -> ");
            return Err(at
                .error(
                    "policy",
                    name,
                    format!("the policy contains itself: {cycle} -> {name}"),
                    "nest a policy that does not lead back here",
                )
                .misfit());
        }
        at.check(
            self.stack.len() < MAX_DEPTH,
            "policy",
            name,
            &format!("policies are nested more than {MAX_DEPTH} deep"),
            "nest fewer policies",
        )
        .map_err(Problem::misfit)?;
        let spec = match policies.get(name) {
            Some(DisciplineSpec::ClassBased(s)) => s,
            Some(other) => {
                return Err(at
                    .error(
                        "policy",
                        name,
                        format!("it is a {} policy", other.kind()),
                        "only class-based policies can be nested in a class",
                    )
                    .misfit());
            }
            None => {
                return Err(at
                    .error(
                        "policy",
                        name,
                        "there is no policy of this name",
                        valid_names(name, policies.keys()),
                    )
                    .misfit());
            }
        };
        self.stack.push(name.clone());
        let node = at.policy(name, |at| {
            at.key("class-based", |at| self.policy(spec, at, inside, around))
        })?;
        self.stack.pop();
        Ok(node)
    }

    /// Makes the classifier's node for a policy inside classes with the steps `outer`, and returns
    /// its index.
    fn classification(
        &mut self,
        node: u16,
        outer: &[u16],
        at: &mut At<'_>,
    ) -> Result<u16, Problem> {
        let id = self.rules.nodes.len() as u16;
        self.rules.nodes.push(Vec::new());
        let default = self.descriptions[usize::from(node)]
            .last()
            .and_then(|d| d.content);
        for i in 0..self.descriptions[usize::from(node)].len() {
            let d = &self.descriptions[usize::from(node)][i];
            let matching = d.matching.clone();
            let content = d.content.or(default);
            let steps: Vec<u16> = d.steps.iter().chain(outer).copied().collect();
            let then = match content {
                Some(Content::Node(n)) => Target::Node(self.classification(n, &steps, at)?),
                Some(Content::Leaf(leaf)) => Target::Route(self.route(leaf, &steps, at)?),
                None => continue,
            };
            self.rules.nodes[usize::from(id)].push(Entry { matching, then });
        }
        Ok(id)
    }

    fn route(&mut self, leaf: u16, steps: &[u16], at: &mut At<'_>) -> Result<u16, Problem> {
        let first = self.route_steps.len();
        let end = first + steps.len();
        if self.routes.len() >= MAX_ROUTES || end > usize::from(u16::MAX) {
            return Err(too_large(at));
        }
        self.route_steps.extend_from_slice(steps);
        self.routes.push(Route {
            leaf,
            first_step: first as u16,
            end_step: end as u16,
        });
        Ok(self.routes.len() as u16 - 1)
    }
}

/// The surroundings of a class.
struct Surroundings {
    id: u16,
    /// The enclosing rate.
    rate: Rate,
    /// The largest rate at which its policy may send.
    most: Rate,
    share: Share,
    want: Want,
}

fn too_large(at: &At<'_>) -> Problem {
    at.error(
        "classes",
        "this policy",
        format!("with all nested policies it has more than {MAX_ROUTES} classes"),
        "nest fewer policies",
    )
    .misfit()
}
