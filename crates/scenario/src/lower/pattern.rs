//! Traffic patterns: the receivers of each sender of a group.

use std::sync::Arc;

use spillgate_core::{Problem, Rng};
use spillgate_endpoints::source::Shares;
use spillgate_endpoints::source::spec::SourceSpec;

use super::flows::MAX_FLOWS;
use super::nodes::Place;
use super::rows::Row;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step};
use crate::plan::Split;
use crate::schema::{DiagonalSpec, HotspotSpec, PatternSpec};

/// A flow of a pattern.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) from: u32,
    pub(super) to: u32,
    /// The number of its source.
    pub(super) source: u32,
    /// The share of its source's packets that it has, if not all.
    pub(super) split: Option<Split>,
}

/// The flows of a row with a pattern, by source, then by receiver; none after an error. `made`: how
/// many flows patterns have made so far.
pub(super) fn parts(
    ctx: &mut Ctx<'_>,
    root: &Node,
    row: &Row,
    (from, to): (Place, Place),
    seed: u64,
    made: &mut u64,
) -> Option<Arc<[Part]>> {
    let spec = row.spec.pattern.as_ref()?;
    let found = Pattern {
        spec,
        row,
        from,
        to,
    }
    .parts(row.has(root, "count"), seed, made);
    match found {
        Ok(parts) => Some(parts.into()),
        Err((code, p)) => {
            let d = Diagnostic::error(code, &*p.message).said(&p);
            row.error(ctx, root, d, &Step::parse_all(&p.path));
            None
        }
    }
}

/// A code, and what is wrong below the row.
type Refused = (&'static str, Problem);

fn refused(
    code: &'static str,
    path: &str,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Refused {
    (code, Problem::new(path, "", message, hint))
}

struct Pattern<'a> {
    spec: &'a PatternSpec,
    row: &'a Row,
    from: Place,
    to: Place,
}

impl Pattern<'_> {
    fn parts(&self, is_counted: bool, seed: u64, made: &mut u64) -> Result<Vec<Part>, Refused> {
        self.check_source()?;
        let senders = self.from.ids().len() as u32;
        let sources = match is_counted {
            true => self.row.spec.count,
            false => senders,
        };
        let each = match self.spec {
            PatternSpec::Permutation(_) => 1,
            PatternSpec::Diagonal(_) => 2,
            _ => self.to.ids().len() as u64,
        };
        let own = u64::from(sources) * each;
        if *made + own > MAX_FLOWS {
            let others = match own > MAX_FLOWS {
                true => String::new(),
                false => format!(", the patterns before it {made}"),
            };
            return Err(refused(
                codes::TOO_MANY_FLOWS,
                "pattern",
                format!("`{}` makes {own} flows{others}", self.spec.name()),
                format!("a scenario has at most {MAX_FLOWS} flows; make the groups smaller"),
            ));
        }
        *made += own;
        if let PatternSpec::Permutation(p) = self.spec {
            return self.permutation(p.shift, sources, seed);
        }
        let mut parts = Vec::new();
        for source in 0..sources {
            let receivers = self.receivers(source);
            let weights = self.weights(&receivers)?;
            let name: Arc<str> = format!("{}/{source}", self.row.spec.name).into();
            let shares = Arc::new(Shares::of(&weights));
            for (number, to) in (0..).zip(receivers.into_iter().take(weights.len())) {
                parts.push(Part {
                    from: self.from.deal(source),
                    to,
                    source,
                    split: self.spec.is_by_packet().then(|| Split {
                        source: name.clone(),
                        shares: shares.clone(),
                        receiver: number,
                    }),
                });
            }
        }
        Ok(parts)
    }

    /// Checks that the packets of a source can be split among receivers.
    fn check_source(&self) -> Result<(), Refused> {
        let (name, spec) = (self.spec.name(), &self.row.spec);
        if !self.spec.is_by_packet() {
            return Ok(());
        }
        let hint = "write `pattern: all-to-all`, a flow to each receiver, or `pattern: permutation`, one receiver for each sender";
        if spec.tcp.is_some() {
            let message = format!(
                "in `{name}` each packet has its own receiver, but all packets of a connection have the same"
            );
            return Err(refused(codes::BAD_PATTERN, "pattern", message, hint));
        }
        let what = match &spec.source {
            Some(SourceSpec::Voip(_)) => "a call",
            Some(SourceSpec::Video(_)) => "a video",
            Some(SourceSpec::Backlogged(_)) => "a backlogged source",
            _ if spec.voice.is_some() => "speech",
            _ => return Ok(()),
        };
        let message = format!(
            "in `{name}` each packet has its own receiver, but all packets of {what} have the same"
        );
        Err(refused(codes::BAD_PATTERN, "pattern", message, hint))
    }

    /// The receivers of a source in order, beginning with the member that has the sender's number;
    /// without the sender itself.
    fn receivers(&self, source: u32) -> Vec<u32> {
        let sender = self.from.deal(source);
        let first = source % self.from.ids().len().max(1) as u32;
        let members = self.to.ids().len() as u32;
        (0..members)
            .map(|k| self.to.deal((first + k) % members))
            .filter(|to| *to != sender)
            .collect()
    }

    /// The weights of the first receivers; the other receivers have weight 0.
    fn weights(&self, receivers: &[u32]) -> Result<Vec<f64>, Refused> {
        let least = match self.spec {
            PatternSpec::Diagonal(_) => 2,
            _ => 1,
        };
        if receivers.len() < least {
            return Err(self.too_few(least));
        }
        let inside = |key: &str, share: f64| match share > 0.0 && share < 1.0 {
            true => Ok(share),
            false => Err(refused(
                codes::OUT_OF_RANGE,
                &format!("pattern.{}.{key}", self.spec.name()),
                format!("a share of {} %", share * 100.0),
                "write a percentage above 0 % and below 100 %",
            )),
        };
        Ok(match self.spec {
            PatternSpec::Uniform | PatternSpec::AllToAll | PatternSpec::Permutation(_) => {
                vec![1.0; receivers.len()]
            }
            PatternSpec::Diagonal(DiagonalSpec { share }) => {
                let share = inside("share", share.0)?;
                vec![share, 1.0 - share]
            }
            // A draw has 53 bits: a receiver with a smaller share is never drawn.
            PatternSpec::LogDiagonal => std::iter::successors(Some(1.0), |w| Some(w / 2.0))
                .take(receivers.len().min(53))
                .collect(),
            PatternSpec::Hotspot(HotspotSpec { share, member }) => {
                let share = inside("share", share.0)?;
                let members = self.to.ids().len() as u32;
                if *member >= members {
                    return Err(refused(
                        codes::OUT_OF_RANGE,
                        "pattern.hotspot.member",
                        format!(
                            "member {member} of `{}`, which has {members}",
                            self.row.spec.to
                        ),
                        format!("write a number from 0 to {}", members - 1),
                    ));
                }
                let hot = self.to.deal(*member);
                let even = (1.0 - share) / receivers.len() as f64;
                let weight = |to: &u32| if *to == hot { share + even } else { even };
                receivers.iter().map(weight).collect()
            }
        })
    }

    fn too_few(&self, least: usize) -> Refused {
        let what = if least == 1 {
            "a receiver"
        } else {
            "two receivers"
        };
        refused(
            codes::BAD_PATTERN,
            "to",
            format!(
                "`{}` needs {what} for each sender, itself not counted",
                self.spec.name()
            ),
            "name a group with more members",
        )
    }

    /// One receiver for each sender. Within a round of the senders no two have the same receiver.
    fn permutation(
        &self,
        shift: Option<u32>,
        sources: u32,
        seed: u64,
    ) -> Result<Vec<Part>, Refused> {
        let senders = self.from.ids().len() as u32;
        let members: Vec<u32> = self.to.ids().collect();
        if senders as usize > members.len() {
            return Err(refused(
                codes::BAD_PATTERN,
                "pattern",
                format!(
                    "`permutation` gives each of {senders} senders a receiver of its own, `{}` has {}",
                    self.row.spec.to,
                    members.len()
                ),
                "name a group with as many receivers, or write `pattern: uniform`",
            ));
        }
        let mut rng = Rng::named(seed, 0, &format!("flows/{}", self.row.spec.name), "pattern");
        let mut parts = Vec::with_capacity(sources as usize);
        let mut order = Vec::new();
        for source in 0..sources {
            let of_round = source % senders;
            if of_round == 0 {
                order = match shift {
                    Some(shift) => rotated(&members, shift),
                    None => self.derangement(&members, &mut rng),
                };
            }
            let (from, to) = (self.from.deal(source), order[of_round as usize]);
            if from == to {
                return Err(match shift {
                    Some(shift) => refused(
                        codes::SELF_LINK,
                        "pattern.permutation.shift",
                        format!("with a shift of {shift} members send to themselves"),
                        "write a shift of 1 or more, below the number of members",
                    ),
                    None => self.too_few(1),
                });
            }
            parts.push(Part {
                from,
                to,
                source,
                split: None,
            });
        }
        Ok(parts)
    }

    /// The members in random order, such that no sender has itself as receiver if that is possible.
    fn derangement(&self, members: &[u32], rng: &mut Rng) -> Vec<u32> {
        let senders: Vec<u32> = self.from.ids().collect();
        let mut order = members.to_vec();
        // More than a third of all orders qualify: 100 failures in a row have a probability below
        // 1e-17.
        for _ in 0..100 {
            for i in (1..order.len()).rev() {
                order.swap(i, rng.below(i as u32 + 1) as usize);
            }
            if senders.iter().zip(&order).all(|(a, b)| a != b) {
                break;
            }
        }
        order
    }
}

fn rotated(members: &[u32], shift: u32) -> Vec<u32> {
    let mut order = members.to_vec();
    order.rotate_left(shift as usize % members.len().max(1));
    order
}
