//! Input policies: they police and mark packets that arrive at a node, and queue nothing.
//!
//! Source: Cisco IOS, `service-policy input`: classes are those of an output policy, with `police`
//! and `set` only. The bucket of a class meters the packets that arrive over one link. Cost: as the
//! conditioning of a class-based policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::{Dscp, FlowKey, Overhead, Packet, Rate, Rng, Time};

use super::{Color, Colored, Step};
use crate::classify::{Classifier, Entry, Rules, Target};
use crate::evidence::{BucketLevel, Evidence};
use crate::line::{Line, bytes};
use crate::recipe::{At, valid_names};
use crate::size::Sizes;
use crate::spec::{ClassBasedSpec, ClassSpec, DisciplineSpec};
use crate::stats::State;
use crate::tree::check::{check_match, check_names};
use crate::tree::parts::steps;
use crate::tree::{DEFAULT, maximum};
use spillgate_core::Problem;

/// The largest number of classes of a policy with all policies nested in it.
const MAX_CLASSES: usize = 4096;
/// The largest depth of nesting.
const MAX_DEPTH: usize = 8;

/// A validated input policy of a link.
#[derive(Clone, Debug)]
pub struct InputRecipe {
    prototype: Arc<Conditioner>,
    line: Line,
}

impl InputRecipe {
    /// Resolves the policy `name` of `policies` for this line, to whose rate percentages refer
    /// unless there is an enclosing policer.
    ///
    /// Beside the recipe come warnings: above all, queueing that has no effect on arrival.
    ///
    /// # Errors
    /// If the policy, or one nested in it, does not exist, is not class-based or cannot be built.
    pub fn resolve(
        name: &str,
        policies: &BTreeMap<String, DisciplineSpec>,
        line: impl Into<Line>,
    ) -> Result<(Self, Vec<String>), Problem> {
        let line = line.into();
        let mut warnings = Vec::new();
        let mut at = At::new(&mut warnings);
        Sizes::new(policies).check(name)?;
        let mut builder = InputBuilder {
            policies,
            line,
            stack: Vec::new(),
            rules: Rules::default(),
            routes: Vec::new(),
            route_steps: Vec::new(),
            steps: Vec::new(),
        };
        builder.policy(name, "", &[], line.rate, &mut at)?;
        let prototype = Arc::new(Conditioner {
            classifier: Classifier::new(builder.rules),
            routes: builder.routes,
            route_steps: builder.route_steps,
            steps: builder.steps,
            refused_by: None,
        });
        Ok((Self { prototype, line }, warnings))
    }

    /// A conditioner at its start: `flows` are indexed by [`Packet::flow`], `links` are the names
    /// of the links by number.
    pub fn build(&self, flows: &Arc<[FlowKey]>, links: &Arc<[String]>) -> Conditioner {
        let mut c = (*self.prototype).clone();
        c.classifier.attach(flows);
        c.classifier.attach_links(links);
        for step in &mut c.steps {
            step.attach(flows);
            step.attach_links(links);
        }
        c
    }

    /// The line that it was resolved for.
    pub fn line(&self) -> Line {
        self.line
    }

    /// Names of the classes that have meters, a container's before or after those of its own
    /// classes, in the order of [`Conditioner::meters`].
    pub fn meter_names(&self) -> impl Iterator<Item = &str> {
        self.prototype.meters().map(|(name, _)| name)
    }

    /// The code points that it may give to packets.
    pub fn marks(&self) -> Vec<Dscp> {
        self.prototype.steps.iter().flat_map(Step::marks).collect()
    }

    /// The token buckets before the first packet: [`Conditioner::tokens`].
    pub fn tokens(&self) -> Vec<(String, State)> {
        self.prototype.tokens(Time::ZERO)
    }

    /// Names of the classes: `parent/class` for nested ones.
    pub fn class_names(&self) -> impl Iterator<Item = &str> {
        self.prototype.routes.iter().map(|r| r.name.as_str())
    }
}

/// What a policer that drops all else lets pass in any time: a burst, and what its rate makes of
/// that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// In b/s.
    pub rate: u64,
    /// In bytes.
    pub burst: u64,
    /// What these count; none: what the link adds.
    pub counted: Option<Overhead>,
}

/// A class: its name, and its steps as a range of the list of all.
#[derive(Clone, Debug)]
struct InputRoute {
    name: String,
    first: usize,
    end: usize,
}

/// A running input policy.
#[derive(Clone, Debug)]
pub struct Conditioner {
    classifier: Classifier,
    routes: Vec<InputRoute>,
    /// Indexes of `steps`; those of a container appear several times.
    route_steps: Vec<u16>,
    steps: Vec<Step>,
    /// The step that dropped a packet last.
    refused_by: Option<u16>,
}

impl Conditioner {
    /// The class of a packet, by number.
    pub fn class_of(&mut self, packet: &Packet) -> u16 {
        self.classifier.route(packet)
    }

    /// The buckets that have paid for whatever it admits of a class.
    pub fn passes(&self, class: u16) -> impl Iterator<Item = Passes> {
        let route = &self.routes[usize::from(class)];
        let steps = self.route_steps[route.first..route.end].iter();
        steps.filter_map(|s| match &self.steps[usize::from(*s)] {
            Step::Police(p) => p.only_passes().map(|(rate, burst)| Passes {
                rate,
                burst,
                counted: p.counted,
            }),
            _ => None,
        })
    }

    /// Whether classes depend on what nodes note of an arrival.
    pub fn looks_at_marks(&self) -> bool {
        self.classifier.looks_at_marks()
    }

    /// Applies the policy to a packet that arrives at `now`, [`Packet::len`] being its length on
    /// the link. Returns its class, as an index of [`InputRecipe::class_names`], and whether it is
    /// admitted.
    pub fn admit(&mut self, now: Time, packet: &mut Packet) -> (u16, bool) {
        let class = self.classifier.route(packet);
        let route = &self.routes[usize::from(class)];
        for s in &self.route_steps[route.first..route.end] {
            if !self.steps[usize::from(*s)].admits(now, packet, false) {
                self.refused_by = Some(*s);
                return (class, false);
            }
        }
        (class, true)
    }

    /// The meters of its policers since the beginning: the class, and what was found.
    pub fn meters(&self) -> impl Iterator<Item = (&str, &Colored)> {
        self.steps.iter().filter_map(Step::meter)
    }

    /// Gives each marker that draws random numbers a stream, by the name of its class
    /// (`parent/class` for nested ones).
    pub fn seed(&mut self, stream: &dyn Fn(&str) -> Rng) {
        self.steps.iter_mut().for_each(|s| s.seed(stream));
    }

    /// The meters that the last packet, of this class, went through, by their classes, and the
    /// color that each gave to it.
    pub fn colors(&self, class: u16, admitted: bool) -> Vec<(&str, Color)> {
        let route = &self.routes[usize::from(class)];
        let refused_by = self.refused_by.filter(|_| !admitted);
        let of_class = &self.route_steps[route.first..route.end];
        super::colors(&self.steps, of_class, refused_by)
    }

    /// The buckets of the policers at `now`, in a fixed order, each with the first class that it
    /// applies to.
    pub fn buckets(&self, now: Time) -> Vec<(u16, BucketLevel)> {
        let mut found = Vec::new();
        let mut seen = vec![false; self.steps.len()];
        for (class, route) in (0..).zip(&self.routes) {
            for step in &self.route_steps[route.first..route.end] {
                let step = usize::from(*step);
                if !std::mem::replace(&mut seen[step], true) {
                    found.extend(self.steps[step].bucket(now).map(|b| (class, b)));
                }
            }
        }
        found
    }

    /// What is in each of them in bytes, with the name of its series, by class (`parent/class` for
    /// nested ones).
    pub fn tokens(&self, now: Time) -> Vec<(String, State)> {
        let level = |step: &Step| {
            let (class, _) = step.meter()?;
            let tokens = step.bucket(now)?.tokens as f64;
            Some((class.to_owned(), vec![("tokens_policer", tokens)]))
        };
        self.steps.iter().filter_map(level).collect()
    }

    /// Why the last packet, this one, was dropped at `now`.
    pub fn evidence(&self, now: Time, packet: &Packet) -> Evidence {
        let Some(step) = self.refused_by.map(|s| &self.steps[usize::from(s)]) else {
            return Evidence::default();
        };
        let counted = step.counted();
        Evidence {
            counted: counted.map(|_| bytes(counted, packet)),
            cause: step.evidence(now),
            ..Evidence::default()
        }
    }
}

struct InputBuilder<'a> {
    policies: &'a BTreeMap<String, DisciplineSpec>,
    line: Line,
    stack: Vec<String>,
    rules: Rules,
    routes: Vec<InputRoute>,
    route_steps: Vec<u16>,
    steps: Vec<Step>,
}

impl InputBuilder<'_> {
    /// The classifier's node of a policy inside classes with the steps `outer`. Percentages refer
    /// to `most`, the rate that the valid_names enclosing policer admits.
    fn policy(
        &mut self,
        name: &str,
        prefix: &str,
        outer: &[u16],
        most: Rate,
        at: &mut At<'_>,
    ) -> Result<u16, Problem> {
        let spec = self.find(name, at)?;
        self.stack.push(name.to_owned());
        let node = at.policy(name, |at| {
            at.key("class-based", |at| {
                self.classes(spec, prefix, outer, most, at)
            })
        })?;
        self.stack.pop();
        Ok(node)
    }

    fn find(&self, name: &str, at: &At<'_>) -> Result<ClassBasedSpec, Problem> {
        let key = if self.stack.is_empty() { "" } else { "policy" };
        if let Some(i) = self.stack.iter().position(|n| n == name) {
            let cycle = self.stack[i..].join(" -> ");
            return Err(at.error(
                key,
                name,
                format!("the policy contains itself: {cycle} -> {name}"),
                "nest a policy that does not lead back here",
            ));
        }
        at.check(
            self.stack.len() < MAX_DEPTH,
            key,
            name,
            &format!("policies are nested more than {MAX_DEPTH} deep"),
            "nest fewer policies",
        )?;
        match self.policies.get(name) {
            Some(DisciplineSpec::ClassBased(s)) => Ok(s.clone()),
            Some(other) => Err(at.error(
                key,
                name,
                format!("it is a {} policy", other.kind()),
                "packets that arrive are not queued: name a class-based policy that polices and marks",
            )),
            None => Err(at.error(
                key,
                name,
                "there is no policy of this name",
                valid_names(name, self.policies.keys()),
            )),
        }
    }

    fn classes(
        &mut self,
        spec: ClassBasedSpec,
        prefix: &str,
        outer: &[u16],
        most: Rate,
        at: &mut At<'_>,
    ) -> Result<u16, Problem> {
        let mut classes = spec.classes;
        if classes.last().is_none_or(|c| c.name != DEFAULT) {
            classes.push(ClassSpec {
                name: DEFAULT.to_owned(),
                ..ClassSpec::default()
            });
        }
        check_names(&classes, at)?;
        let id = self.rules.nodes.len() as u16;
        self.rules.nodes.push(Vec::new());
        for (i, class) in classes.iter().enumerate() {
            let then = at.index("classes", i, |at| {
                self.class(class, prefix, outer, most, at)
            })?;
            let matching = class.matching.clone();
            self.rules.nodes[usize::from(id)].push(Entry { matching, then });
        }
        Ok(id)
    }

    fn class(
        &mut self,
        class: &ClassSpec,
        prefix: &str,
        outer: &[u16],
        most: Rate,
        at: &mut At<'_>,
    ) -> Result<Target, Problem> {
        match &class.matching {
            None => at.check(
                class.name == DEFAULT,
                "match",
                &class.name,
                "the class does not say which packets belong to it",
                "add a `match` such as {dscp: ef}; `match: {}` matches every packet",
            )?,
            Some(m) => at.key("match", |at| check_match(m, at))?,
        }
        for (key, _) in class.queueing_keys().filter(|(_, on)| *on) {
            at.warn(format!(
                "class {}: `{key}` has no effect on arrival, where nothing is queued",
                class.name
            ));
        }
        let conditioning = ClassSpec {
            priority: None,
            ..class.clone()
        };
        let first = self.steps.len();
        let name = format!("{prefix}{}", class.name);
        let around = self.line.at(most).into();
        let counting = self.line.counting;
        self.steps
            .extend(steps(&conditioning, &name, around, counting, at)?);
        let own = (first..self.steps.len()).map(|i| i as u16);
        let steps: Vec<u16> = own.chain(outer.iter().copied()).collect();
        if let Some(inner) = &class.policy {
            let prefix = format!("{prefix}{}/", class.name);
            // A shaper has no effect here, and limits nothing.
            let policing = ClassSpec {
                shape: None,
                ..conditioning
            };
            let most = maximum(&policing, most);
            return Ok(Target::Node(self.policy(inner, &prefix, &steps, most, at)?));
        }
        let first = self.route_steps.len();
        self.route_steps.extend(steps);
        at.check(
            self.routes.len() < MAX_CLASSES && self.steps.len() <= usize::from(u16::MAX),
            "",
            &class.name,
            &format!("with all nested policies it has more than {MAX_CLASSES} classes"),
            "nest fewer policies",
        )?;
        self.routes.push(InputRoute {
            name: format!("{prefix}{}", class.name),
            first,
            end: self.route_steps.len(),
        });
        Ok(Target::Route(self.routes.len() as u16 - 1))
    }
}
