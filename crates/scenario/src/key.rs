//! The key under which the runs of a point are stored: a hash of everything that decides their
//! results, and of options that compute the same results in another way as a check; nothing else.
//!
//! Titles, names of points and policies, requirements, options of judging and drawing, and the
//! spelling of values do not count. Names of nodes, links, classes and flows count, since random
//! streams and results have these names. Every structure is taken apart field by field, so that a
//! new field does not compile until somebody decides whether it counts.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Write};
use std::sync::Arc;

use spillgate_core::Digest;
use spillgate_nodes::Holding;

use crate::ctx::digest_bytes;
use crate::plan::{FlowPlan, LinkPlan, ReplayPlan, SessionsPlan, Split, Traffic, WorldPlan};

/// Computes the keys of a plan's points. Parts that points share are hashed once, by address, so
/// the points must outlive this.
#[derive(Default)]
pub struct Keys {
    /// By address.
    shared: BTreeMap<usize, u128>,
}

/// Takes the fingerprint of what is written.
#[derive(Default)]
struct Sink(Digest);

impl fmt::Write for Sink {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        digest_bytes(&mut self.0, s.as_bytes());
        Ok(())
    }
}

impl Keys {
    /// The key of one point's runs, still without seed and number of the run.
    pub fn of(&mut self, world: &WorldPlan) -> u128 {
        let mut sink = Sink::default();
        // Writing to a sink cannot fail.
        let _ = self.world(&mut sink, world);
        sink.0.value()
    }

    /// The fingerprint of something that points or flows share.
    fn shared<T: ?Sized>(
        &mut self,
        it: &Arc<T>,
        write: impl FnOnce(&mut Self, &mut Sink, &T) -> fmt::Result,
    ) -> u128 {
        let address = Arc::as_ptr(it).cast::<()>() as usize;
        if let Some(known) = self.shared.get(&address) {
            return *known;
        }
        let mut sink = Sink::default();
        let _ = write(self, &mut sink, it);
        let found = sink.0.value();
        self.shared.insert(address, found);
        found
    }

    /// The fingerprint of a shared value all of whose fields count.
    fn whole<T: Debug + ?Sized>(&mut self, it: &Arc<T>) -> u128 {
        self.shared(it, |_, out, it| write!(out, "{it:?}"))
    }

    fn world(&mut self, out: &mut Sink, world: &WorldPlan) -> fmt::Result {
        let WorldPlan {
            nodes,
            holding,
            links,
            routes,
            failures,
            reroute,
            stages,
            flows,
            // Its flows count.
            patterns: _,
            classes,
            // What is stored beside a run.
            sites: _,
            warmup,
            auto_warmup: _,
            duration,
            grace,
            interval: _,
            watched: _,
            watched_nodes: _,
            gaps,
            backlog_percentiles,
        } = world;
        write!(out, "{nodes:?}{routes:?}{failures:?}")?;
        write!(
            out,
            "{classes:?}{warmup:?}{duration:?}{grace:?}{gaps:?}{backlog_percentiles}"
        )?;
        // Without failures nothing is routed again.
        write!(out, "{:?}", (!failures.is_empty()).then_some(reroute))?;
        for holding in holding.iter() {
            // They declare what follows from the rest.
            let Holding {
                nodes,
                path,
                plan,
                declared: _,
            } = holding;
            write!(out, "{nodes:?}{path:?}{}", plan.kind())?;
            plan.write_identity(out)?;
        }
        for stage in stages.iter() {
            write!(out, "{}", stage.kind())?;
            stage.write_identity(out)?;
        }
        for link in links {
            self.link(out, link)?;
        }
        flows.iter().try_for_each(|flow| self.flow(out, flow))
    }

    fn link(&mut self, out: &mut Sink, link: &LinkPlan) -> fmt::Result {
        let LinkPlan {
            name,
            from,
            to,
            rate,
            server,
            delay,
            loss,
            reorder,
            overhead,
            mtu,
            cost,
            policy: _,
            discipline,
            tx_ring,
            dot1q,
        } = link;
        write!(
            out,
            "{name:?}{from}-{to}{rate:?}{delay:?}{loss:?}{reorder:?}"
        )?;
        write!(out, "{overhead:?}{mtu} {cost} {dot1q}")?;
        // The origin of a ring does not count, and a ring of one packet is no ring.
        if tx_ring.holds_packets() {
            write!(out, "ring {}", tx_ring.packets)?;
        }
        let server = server.as_ref().map(|s| self.whole(s));
        write!(out, "{server:?}")?;
        discipline.write_identity(out, server.is_some())
    }

    fn flow(&mut self, out: &mut Sink, flow: &FlowPlan) -> fmt::Result {
        let FlowPlan {
            name,
            class,
            from,
            to,
            route,
            back,
            key,
            dscp,
            ecn,
            lifetime,
            follows,
            traffic,
            split,
            voice,
        } = flow;
        write!(
            out,
            "{name:?}{class} {from}-{to} {route} {back:?}{key:?}{dscp:?}{ecn:?}{follows}"
        )?;
        let lifetime = self.whole(lifetime);
        let voice = voice.as_ref().map(|v| self.whole(v));
        let traffic = match traffic {
            Traffic::Source(source) => self.whole(source),
            Traffic::Tcp {
                config,
                application,
            } => {
                write!(out, "{application:?}")?;
                self.whole(config)
            }
            Traffic::Sessions(sessions) => self.shared(sessions, |keys, out, sessions| {
                let SessionsPlan {
                    config,
                    arrivals,
                    session,
                    active,
                } = sessions;
                write!(
                    out,
                    "{:?}{arrivals:?}{session:?}{active}",
                    keys.whole(config)
                )
            }),
            Traffic::Replay(replay) => self.shared(replay, |_, out, replay| {
                let ReplayPlan {
                    // Its content counts.
                    file: _,
                    opener: _,
                    selection,
                    survey,
                    clock,
                    dscp,
                    looped,
                } = replay;
                write!(
                    out,
                    "{}{selection:?}{clock:?}{dscp:?}{looped}",
                    survey.fingerprint
                )
            }),
        };
        write!(out, "{lifetime:x}{voice:?}{traffic:x}")?;
        match split {
            None => Ok(()),
            Some(Split {
                source,
                shares,
                receiver,
            }) => write!(out, "{source:?}{:x}{receiver}", self.whole(shares)),
        }
    }
}
