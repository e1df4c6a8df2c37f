//! The cross-protect router word by word, with its link: every tick, end of transmission and
//! time-out happens when it is due, and lists are maps. Slow, and plain enough to be read against
//! the model page.

use std::collections::BTreeMap;

use spillgate_core::{Dur, Packet, Rate, RateOrPercent, Rng, Time};

use crate::fan::scheduler::{FairScheduler, FanClass};
use crate::fan::spec::{ElasticRule, FanMechanism, FanSpec};
use crate::fan::{AdmissionState, Wait};

/// What became of a packet, and when: `sent`, or the metric of its loss.
pub(super) type Line = (Time, u32, u32, &'static str);

/// An entry of the protected flow list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    pub(super) added: Time,
    last: Time,
    pub(super) elastic: bool,
}

pub(super) struct Plain<S> {
    spec: FanSpec,
    rate: Rate,
    scheduler: S,
    rng: Rng,
    min_fair_rate: f64,
    max_priority_load: f64,
    // The link.
    down: bool,
    sending_until: Option<Time>,
    idle_since: Option<Time>,
    /// Idle time of this fair-rate interval, the present idle period left out.
    idle: Dur,
    // The estimators: next tick, whether an interval ends there, totals at the last one.
    load_tick: (Time, bool),
    fair_tick: (Time, bool),
    last_fair_tick: Time,
    priority_base: u64,
    fair_base: u64,
    pub(super) fair_rate: f64,
    pub(super) priority_load: f64,
    saturated: bool,
    listed_since_tick: u32,
    // The lists.
    pub(super) pfl: BTreeMap<u32, Listed>,
    pub(super) bfl: BTreeMap<u32, Time>,
    last_flush: Option<Time>,
    pub(super) flushes: Vec<Time>,
    pub(super) removed: Vec<(Time, u32)>,
    waits: BTreeMap<u32, Wait>,
    pub(super) ledger: Vec<Line>,
}

impl<S: FairScheduler> Plain<S> {
    pub(super) fn new(spec: &FanSpec, rate: Rate, scheduler: S, rng: Rng) -> Self {
        let first = |interval: Dur| {
            let phase = spec.tick_phase.as_ps() % interval.as_ps();
            match phase {
                0 => (Time::ZERO + interval, true),
                _ => (Time::from_ps(phase), false),
            }
        };
        // A rate is at least 1 b/s; a threshold may be 0.
        let threshold = |r: RateOrPercent| match r {
            RateOrPercent::Percent(p) if p.0 == 0.0 => 0.0,
            r => r.of(rate).bps() as f64,
        };
        Self {
            rate,
            scheduler,
            rng,
            min_fair_rate: threshold(spec.min_fair_rate),
            max_priority_load: threshold(spec.max_priority_load) / rate.bps() as f64,
            down: false,
            sending_until: None,
            idle_since: Some(Time::ZERO),
            idle: Dur::ZERO,
            load_tick: first(spec.priority_load.interval),
            fair_tick: first(spec.fair_rate.interval),
            last_fair_tick: Time::ZERO,
            priority_base: 0,
            fair_base: 0,
            fair_rate: rate.bps() as f64,
            priority_load: 0.0,
            saturated: false,
            listed_since_tick: 0,
            pfl: BTreeMap::new(),
            bfl: BTreeMap::new(),
            last_flush: None,
            flushes: Vec::new(),
            removed: Vec::new(),
            waits: BTreeMap::new(),
            ledger: Vec::new(),
            spec: spec.clone(),
        }
    }

    /// Does what is due until `now`, this instant included: at each, the end of a transmission
    /// before the ticks, and the priority load before the fair rate.
    pub(super) fn run_to(&mut self, now: Time) {
        loop {
            let due = [
                self.sending_until.unwrap_or(Time::MAX),
                self.load_tick.0,
                self.fair_tick.0,
            ];
            let (at, which) = (0..3).map(|i| (due[i], i)).min().unwrap();
            if at > now {
                break;
            }
            match which {
                0 => {
                    self.sending_until = None;
                    self.send_next(at);
                }
                1 => self.tick_load(at),
                _ => self.tick_fair(at),
            }
        }
        let timeout = self.spec.pfl_flow_timeout;
        let waits = &mut self.waits;
        self.pfl.retain(|flow, l| {
            let stays = now.since(l.last) <= timeout;
            if !stays {
                waits.get_mut(flow).unwrap().timeouts += 1;
            }
            stays
        });
        self.bfl.retain(|_, until| now < *until);
    }

    fn send_next(&mut self, now: Time) {
        match self.scheduler.pop() {
            Some(packet) => {
                if let Some(since) = self.idle_since.take() {
                    self.idle = self.idle + now.since(since.max(self.last_fair_tick));
                }
                self.sending_until = Some(now + self.rate.tx_time(packet.len));
                self.ledger.push((now, packet.flow, packet.seq, "sent"));
            }
            None => {
                self.scheduler.idle();
                self.idle_since = Some(now);
            }
        }
    }

    fn tick_load(&mut self, now: Time) {
        let (at, measures) = self.load_tick;
        let interval = self.spec.priority_load.interval;
        let total = self.scheduler.totals().priority_bytes;
        if measures {
            let bits = u128::from(8 * (total - self.priority_base)) * 1_000_000_000_000;
            let could = u128::from(self.rate.bps()) * u128::from(interval.as_ps());
            let w = self.spec.priority_load.smoothing;
            self.priority_load = w * self.priority_load + (1.0 - w) * (bits as f64 / could as f64);
        }
        assert_eq!(at, now);
        self.priority_base = total;
        self.load_tick = (at + interval, true);
    }

    fn tick_fair(&mut self, now: Time) {
        let (at, measures) = self.fair_tick;
        let interval = self.spec.fair_rate.interval;
        let total = self.scheduler.totals().fair_bytes;
        if measures {
            let mut idle = self.idle;
            if let Some(since) = self.idle_since {
                idle = idle + now.since(since.max(self.last_fair_tick));
            }
            let left = u128::from(self.rate.bps()) * u128::from(idle.as_ps());
            let fair = u128::from(8 * (total - self.fair_base)) * 1_000_000_000_000;
            let most = u128::from(self.rate.bps()) * u128::from(interval.as_ps());
            let measured = left.max(fair).min(most) as f64 / interval.as_ps() as f64;
            let w = self.spec.fair_rate.smoothing;
            self.fair_rate = w * self.fair_rate + (1.0 - w) * measured;
        }
        assert_eq!(at, now);
        self.fair_base = total;
        self.idle = Dur::ZERO;
        self.last_fair_tick = now;
        self.fair_tick = (at + interval, true);
        self.listed_since_tick = 0;
        if !self.scheduler.saturated() {
            self.saturated = false;
        }
    }

    pub(super) fn congested(&self) -> bool {
        self.fair_rate < self.min_fair_rate
            || self.priority_load > self.max_priority_load
            || self.saturated
    }

    fn wait(&mut self, now: Time, flow: u32) -> &mut Wait {
        self.waits.entry(flow).or_insert(Wait {
            flow,
            offered: now,
            admitted: None,
            refused: 0,
            refused_total: 0,
            admissions: 0,
            removals: 0,
            timeouts: 0,
        })
    }

    /// A packet arrives.
    pub(super) fn arrive(&mut self, now: Time, packet: Packet) {
        self.run_to(now);
        let (flow, seq) = (packet.flow, packet.seq);
        if self.down {
            self.ledger.push((now, flow, seq, "drops_link_down"));
            return;
        }
        if !self.passes(now, flow) {
            self.wait(now, flow).refused_total += 1;
            if self.waits[&flow].admitted.is_none() {
                self.wait(now, flow).refused += 1;
            }
            self.ledger.push((now, flow, seq, "drops_admission"));
            return;
        }
        self.wait(now, flow).admitted.get_or_insert(now);
        let before = self.scheduler.totals().unlisted;
        let mut out = Vec::new();
        let class = self.scheduler.offer(packet, &mut |p| {
            out.push((now, p.flow, p.seq, "drops_pushed_out"));
        });
        self.ledger.append(&mut out);
        self.saturated |= self.scheduler.totals().unlisted > before;
        match class {
            None => self.ledger.push((now, flow, seq, "drops_tail")),
            Some(FanClass::Priority) => {}
            Some(FanClass::Backlog) => {
                if let Some(l) = self.pfl.get_mut(&flow) {
                    l.elastic = true;
                }
            }
        }
        if self.sending_until.is_none() && self.scheduler.totals().packets > 0 {
            self.send_next(now);
        }
    }

    /// Steps 1 to 5 of the model page.
    fn passes(&mut self, now: Time, flow: u32) -> bool {
        if self.bfl.contains_key(&flow) {
            return false;
        }
        if let Some(listed) = self.pfl.get_mut(&flow) {
            listed.last = now;
            return true;
        }
        if self.congested() {
            if self.mechanism(now) && self.spec.accept_trigger {
                self.fair_rate = self.rate.bps() as f64;
            }
            if self.congested() {
                return false;
            }
        }
        if let Some(most) = self.spec.admissions_per_tick {
            if self.listed_since_tick >= most {
                return false;
            }
        }
        let lists = self.spec.p_add >= 1.0 || self.rng.chance(self.spec.p_add);
        let room = self
            .spec
            .pfl_max
            .is_none_or(|most| self.pfl.len() < most as usize);
        if lists && room {
            let listed = Listed {
                added: now,
                last: now,
                elastic: false,
            };
            self.pfl.insert(flow, listed);
            self.listed_since_tick += 1;
            self.wait(now, flow).admissions += 1;
        }
        true
    }

    fn is_elastic(&self, flow: u32) -> bool {
        match self.spec.elastic {
            ElasticRule::Sticky => self.pfl[&flow].elastic,
            ElasticRule::Instant => self.scheduler.is_backlogged(flow),
        }
    }

    fn mechanism(&mut self, now: Time) -> bool {
        let age = match &self.spec.mechanism {
            FanMechanism::Basic(_) => return false,
            FanMechanism::Efm(s) => {
                let timer = s.pfl_flushing_timer;
                if self.last_flush.is_some_and(|last| now.since(last) < timer) {
                    return false;
                }
                self.last_flush = Some(now);
                Dur::ZERO
            }
            FanMechanism::Raef(s) => s.active_time,
            FanMechanism::Rbaef(s) => s.active_time,
        };
        let gone: Vec<u32> = self
            .pfl
            .iter()
            .filter(|(flow, l)| self.is_elastic(**flow) && now.since(l.added) >= age)
            .map(|(flow, _)| *flow)
            .collect();
        for flow in &gone {
            self.pfl.remove(flow);
            self.wait(now, *flow).removals += 1;
            self.removed.push((now, *flow));
            if let FanMechanism::Rbaef(s) = &self.spec.mechanism {
                self.bfl.insert(*flow, now + s.blocked_time);
            }
        }
        let acted = !gone.is_empty() || matches!(self.spec.mechanism, FanMechanism::Efm(_));
        if acted {
            self.flushes.push(now);
        }
        acted
    }

    /// The link fails, or is repaired.
    pub(super) fn set_down(&mut self, now: Time, down: bool) {
        self.run_to(now);
        if down && !self.down {
            let mut lost = Vec::new();
            self.scheduler
                .flush(&mut |p| lost.push((now, p.flow, p.seq, "drops_link_down")));
            lost.sort_by_key(|(_, flow, ..)| *flow);
            self.ledger.append(&mut lost);
            self.sending_until = None;
            self.idle_since.get_or_insert(now);
        }
        self.down = down;
    }

    /// The state at `now`.
    pub(super) fn state(&mut self, now: Time) -> AdmissionState {
        self.run_to(now);
        AdmissionState {
            fair_rate: self.fair_rate,
            priority_load: self.priority_load,
            congested: self.congested(),
            listed: self.pfl.len() as u32,
            blocked: self.bfl.len() as u32,
            flushes: self.flushes.len() as u64,
        }
    }

    pub(super) fn waits(&mut self, now: Time) -> Vec<Wait> {
        self.run_to(now);
        self.waits.values().copied().collect()
    }
}
