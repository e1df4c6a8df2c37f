//! AQMs and disciplines of one's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{BPS, flows, packet, rate, resolve};
use spillgate_core::{DropReason, Drops, Dur, Ecn, FlowKey, Packet, Rate, Rng, Time, Verdict};
use spillgate_queueing::spec::{DisciplineSpec, OwnSchedulerSpec};
use spillgate_queueing::testkit::{Bench, Contract, Driver};
use spillgate_queueing::{
    Backlog, CustomAqm, CustomDiscipline, Discipline, Draw, OwnPart, OwnQueue, Recipe,
};

const STRICT: Contract = Contract {
    in_order: true,
    work_conserving: true,
};

/// Every tenth packet that arrives and every seventh that leaves: dropped, or marked if it
/// understands that.
#[derive(Clone, Debug, Default)]
struct Counting {
    came: u32,
    left: u32,
}

impl CustomAqm for Counting {
    fn arrival(&mut self, _: Time, _: &Backlog, _: &Packet, _: &mut dyn Draw) -> Verdict {
        self.came += 1;
        match self.came % 10 {
            0 => Verdict::Mark,
            5 => Verdict::Drop(DropReason::Early),
            _ => Verdict::Pass,
        }
    }

    fn departure(&mut self, _: Time, _: &Backlog, packet: &Packet, _: &mut dyn Draw) -> Verdict {
        self.left += 1;
        match self.left % 7 {
            0 if packet.ecn.is_capable() => Verdict::Mark,
            0 => Verdict::Drop(DropReason::Early),
            _ => Verdict::Pass,
        }
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        Box::new(self.clone())
    }
}

fn recipe(json: &str) -> Recipe {
    resolve(&format!(r#"{{"main": {json}}}"#), BPS).unwrap().0
}

fn managed(json: &str, leaf: &str, aqm: impl CustomAqm + 'static) -> Discipline {
    let mut recipe = recipe(json);
    recipe.manage(leaf, Box::new(aqm)).unwrap();
    recipe.build(&flows())
}

const QUEUES: [(&str, &str); 6] = [
    (r#"{"fifo": {"limit": "20 packets"}}"#, "fifo"),
    (
        r#"{"fifo": {"limit": "20 packets", "aqm": {"red": {}}}}"#,
        "fifo",
    ),
    (r#"{"drr": {"limit": "20 packets"}}"#, "drr"),
    (r#"{"fq": {"queues": 3, "limit": "20 packets"}}"#, "fq"),
    (r#"{"fq-codel": {"limit": "20 packets"}}"#, "fq-codel"),
    (
        r#"{"class-based": {"classes": [{"name": "a", "match": {"dscp": "ef"}, "priority": {}},
            {"name": "class-default", "drr": {}}]}}"#,
        "class-default",
    ),
];

#[test]
fn an_aqm_of_ones_own_keeps_the_contract_in_every_queue() {
    for (json, leaf) in QUEUES {
        STRICT.check(|| managed(json, leaf, Counting::default()), 60);
    }
}

/// Keeps what it is told of the drain rate, in bytes a second.
#[derive(Clone, Debug)]
struct Listening(Arc<AtomicU64>);

impl CustomAqm for Listening {
    fn arrival(&mut self, _: Time, backlog: &Backlog, _: &Packet, _: &mut dyn Draw) -> Verdict {
        assert_eq!(backlog.drain_rate.is_some(), backlog.drains_in().is_some());
        let rate = backlog.drain_rate.unwrap_or_default();
        self.0.store(rate as u64, Ordering::Relaxed);
        Verdict::Pass
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        Box::new(self.clone())
    }
}

/// One of two flows gets half of the link from a fair queue, and all of it from a FIFO. The first
/// measurement is off by the packet that begins it, one in 17, and has a weight of 7/8 per further
/// one.
#[test]
fn an_aqm_of_ones_own_is_told_the_drain_rate() {
    for (json, leaf, share) in [
        (r#"{"fifo": {"limit": "500 packets"}}"#, "fifo", 1.0),
        (
            r#"{"drr": {"limit": "500 packets", "quantum": "1000 B"}}"#,
            "drr",
            0.5,
        ),
    ] {
        let told = Arc::new(AtomicU64::new(0));
        let listening = managed(json, leaf, Listening(told.clone()));
        let mut bench = Bench::new(listening, rate(BPS));
        for seq in 0..200 {
            for flow in [0, 1] {
                bench.arrive(Time::ZERO, packet(flow, seq, 1000));
            }
        }
        // Three quarters of them have left.
        bench.arrive(Time::from_secs_f64(2.4), packet(0, 200, 1000));
        bench.run();
        let rate = told.load(Ordering::Relaxed) as f64 / (share * BPS as f64 / 8.0);
        assert!((1.0..1.0 + 1.0 / 16.0).contains(&rate), "{leaf}: {rate}");
    }
}

/// Each queue of a fair queue has its own count; in a FIFO there is one.
#[test]
fn every_queue_has_its_own_state() {
    let arrivals = |d: &mut Discipline| {
        let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
        for seq in 0..8 {
            // ECN-capable, and not.
            for flow in [0, 1] {
                d.enqueue(Time::ZERO, packet(flow, seq, 100), &mut rng, &mut drops);
            }
        }
        drops
            .as_slice()
            .iter()
            .map(|d| (d.packet.flow, d.packet.seq))
            .collect::<Vec<_>>()
    };
    // Packet 5 of 16 is flow 0's third; packet 10 is of flow 1, which understands no mark; 15 is
    // flow 0's.
    let mut fifo = managed(QUEUES[0].0, "fifo", Counting::default());
    assert_eq!(arrivals(&mut fifo), [(0, 2), (1, 4), (0, 7)]);
    let mut drr = managed(QUEUES[2].0, "drr", Counting::default());
    assert_eq!(arrivals(&mut drr), [(0, 4), (1, 4)]);
    assert_eq!(drr.leaves()[0].marks_ce, 0);
    let mut driver = Driver::new(drr, 1);
    driver.drain();
    // The seventh that leaves of each: marked, and dropped.
    let stats = driver.discipline.leaves()[0];
    assert_eq!((stats.marks_ce, stats.dropped_queued_packets), (1, 1));
}

/// Counts how many of them there are.
#[derive(Debug)]
struct Forgetful(Arc<AtomicU64>);

impl Drop for Forgetful {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl CustomAqm for Forgetful {
    fn is_new(&self) -> bool {
        true
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::new(Self(Arc::clone(&self.0)))
    }
}

#[test]
fn a_fair_queue_forgets_what_the_aqm_forgets() {
    let count = Arc::new(AtomicU64::new(1));
    let mut d = managed(QUEUES[2].0, "drr", Forgetful(Arc::clone(&count)));
    let before = count.load(Ordering::SeqCst);
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    for flow in 0..8 {
        d.enqueue(Time::ZERO, packet(flow, 0, 100), &mut rng, &mut drops);
    }
    assert_eq!(count.load(Ordering::SeqCst), before + 8);
    while d.dequeue(Time::ZERO, &mut rng, &mut drops).is_some() {}
    // What is left belongs to slots that the next flows take.
    for flow in 0..8 {
        d.enqueue(Time::ZERO, packet(flow, 1, 100), &mut rng, &mut drops);
    }
    assert_eq!(count.load(Ordering::SeqCst), before + 8);
}

#[test]
fn queues_that_take_no_aqm_say_so() {
    for (json, leaf, wanted) in [
        (r#"{"fifo": {}}"#, "fif", "did you mean `fifo`?"),
        (r#"{"wfq": {}}"#, "wfq", "its queue takes no AQM"),
        (r#"{"flow-wfq": {}}"#, "flow-wfq", "its queue takes no AQM"),
        (r#"{"fan": {}}"#, "fan", "its queue takes no AQM"),
    ] {
        let why = recipe(json).manage(leaf, Box::new(Counting::default()));
        let why = why.unwrap_err().to_string();
        assert!(why.contains(wanted), "{why}");
    }
}

/// Limits follow the rate; the AQM stays.
#[test]
fn an_aqm_of_ones_own_outlives_a_change_of_the_rate() {
    for (json, leaf) in [
        (r#"{"fifo": {"limit": "128 ms"}}"#, "fifo"),
        (r#"{"drr": {"limit": "128 ms"}}"#, "drr"),
    ] {
        let mut d = managed(json, leaf, Counting::default());
        d.set_rate(Time::ZERO, rate(BPS / 4)).unwrap();
        assert_eq!(d.limit(0).bytes, Some(4000), "{json}");
        let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
        for seq in 0..5 {
            d.enqueue(Time::ZERO, packet(1, seq, 100), &mut rng, &mut drops);
        }
        assert_eq!(drops.as_slice()[0].reason, DropReason::Early, "{json}");
    }
}

/// First in, first out, one packet every so often, pushing out the oldest of three; it tells what
/// it was told.
#[derive(Clone, Debug, Default)]
struct Paced {
    waiting: Vec<Packet>,
    next: Time,
    gap: Dur,
    /// Flows that it was told, counted.
    told: Arc<AtomicU64>,
    calls: u32,
    /// What it does wrong, for the tests of the contract.
    wrong: u8,
}

const LOSES: u8 = 1;
const SENDS_TWICE: u8 = 2;
const FORGETS_WAKE: u8 = 3;
const KEEPS: u8 = 4;
const HURRIES: u8 = 5;
const REORDERS: u8 = 6;
const COUNTS_CALLS: u8 = 7;

impl CustomDiscipline for Paced {
    fn name(&self) -> &str {
        "paced"
    }

    fn enqueue(
        &mut self,
        now: Time,
        packet: Packet,
        _: &mut Rng,
        evicted: &mut dyn FnMut(Packet, DropReason),
    ) -> Result<(), DropReason> {
        if packet.len > 1400 {
            return Err(DropReason::TooBig);
        }
        if self.waiting.len() == 3 {
            let oldest = self.waiting.remove(0);
            if self.wrong != LOSES {
                evicted(oldest, DropReason::PushedOut);
            }
        }
        if self.waiting.is_empty() {
            self.next = self.next.max(now + self.gap);
        }
        match self.wrong {
            REORDERS => self.waiting.insert(0, packet),
            _ => self.waiting.push(packet),
        }
        Ok(())
    }

    fn dequeue(
        &mut self,
        now: Time,
        _: &mut Rng,
        _: &mut dyn FnMut(Packet, DropReason),
    ) -> Option<(Packet, bool)> {
        self.calls += 1;
        if now < self.next || self.waiting.is_empty() {
            return None;
        }
        self.next = now + self.gap;
        let first = match self.wrong {
            SENDS_TWICE => self.waiting[0],
            _ => self.waiting.remove(0),
        };
        let marked = self.wrong != COUNTS_CALLS || self.calls % 3 == 0;
        Some((first, marked && first.ecn == Ecn::Ect0))
    }

    fn flush(&mut self, lost: &mut dyn FnMut(Packet)) {
        let kept = usize::from(self.wrong == KEEPS);
        let all = self.waiting.len();
        self.waiting.drain(..all - kept.min(all)).for_each(lost);
    }

    fn next_wake(&self, now: Time) -> Option<Time> {
        match self.wrong {
            FORGETS_WAKE => None,
            HURRIES => Some(now + Dur::from_ns(1)),
            _ => Some(self.next.max(now)),
        }
    }

    fn flow(&mut self, number: u32, key: &FlowKey) {
        assert_eq!(*key, flows()[number as usize]);
        self.told.fetch_add(1, Ordering::SeqCst);
    }

    fn set_rate(&mut self, _: Time, rate: Rate) {
        self.gap = rate.tx_time(1000);
    }

    fn boxed(&self) -> Box<dyn CustomDiscipline> {
        Box::new(self.clone())
    }
}

fn paced(wrong: u8) -> Discipline {
    Discipline::custom(Box::new(Paced {
        gap: Dur::from_ms(8),
        wrong,
        ..Paced::default()
    }))
}

const HOLDS: Contract = Contract {
    in_order: true,
    work_conserving: false,
};

#[test]
fn a_discipline_of_ones_own_is_one_like_any_other() {
    HOLDS.check(|| paced(0), 200);
    let told = Arc::new(AtomicU64::new(0));
    let mut d = Discipline::custom(Box::new(Paced {
        gap: Dur::from_ms(8),
        told: Arc::clone(&told),
        ..Paced::default()
    }));
    assert_eq!(d.leaf_names(), ["paced"]);
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    assert_eq!((d.add_flow(flows()[0]), d.flows()), (0, 1));
    assert_eq!(told.load(Ordering::SeqCst), 1);
    for seq in 0..4 {
        d.enqueue(Time::ZERO, packet(0, seq, 1000), &mut rng, &mut drops);
    }
    assert_eq!(drops.as_slice()[0].reason, DropReason::PushedOut);
    assert_eq!((d.backlog_packets(), d.backlog_bytes()), (3, 3000));
    let at = |ms| Time::ZERO + Dur::from_ms(ms);
    assert_eq!(d.dequeue(at(7), &mut rng, &mut drops), None);
    assert_eq!(d.next_wake(at(7)), Some(at(8)));
    let first = d.dequeue(at(8), &mut rng, &mut drops).unwrap();
    assert_eq!((first.seq, first.ecn, first.leaf), (1, Ecn::Ce, 0));
    // 1,000 B at half of the rate that 8 ms stand for.
    d.set_rate(at(8), rate(500_000)).unwrap();
    assert!(d.dequeue(at(16), &mut rng, &mut drops).is_some());
    assert_eq!(d.next_wake(at(16)), Some(at(32)));
    let stats = d.leaves()[0];
    assert_eq!(
        (
            stats.marks_ce,
            stats.dequeued_packets(),
            stats.dropped_packets()
        ),
        (2, 2, 1)
    );
}

/// Makes schedulers that pace packets of 1,000 B at the rate of the port.
struct Pacing;

impl OwnPart<dyn CustomDiscipline> for Pacing {
    fn identity(&self) -> String {
        "paced, version 1".to_owned()
    }

    fn make(
        &self,
        settings: &serde_json::Map<String, serde_json::Value>,
        queue: &OwnQueue,
    ) -> Result<Box<dyn CustomDiscipline>, String> {
        if let Some(key) = settings.keys().next() {
            return Err(format!("there is no setting `{key}`"));
        }
        let gap = queue.rate.tx_time(1000);
        Ok(Box::new(Paced {
            gap,
            ..Paced::default()
        }))
    }
}

#[test]
fn a_scheduler_that_is_given_is_a_policy_like_any_other() {
    let mut spec: OwnSchedulerSpec = serde_json::from_str(r#"{"name": "mine"}"#).unwrap();
    let resolve =
        |spec: &OwnSchedulerSpec| Recipe::of(DisciplineSpec::Own(spec.clone()), rate(BPS));
    let why = resolve(&spec).unwrap_err();
    assert_eq!(why.path, "policies.policy.own.name");
    assert!(why.message.contains("no scheduler of one's own"), "{why}");
    spec.set_maker(Arc::new(Pacing));
    assert_eq!(spec.identity.as_deref(), Some("paced, version 1"));
    let (recipe, warnings) = resolve(&spec).unwrap();
    assert_eq!(warnings, [""; 0]);
    HOLDS.check(|| recipe.build(&flows()), 200);
    // A new rate is told, and the packets stay.
    let mut d = recipe.build(&flows());
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    d.enqueue(Time::ZERO, packet(0, 0, 1000), &mut rng, &mut drops);
    d.set_rate(Time::ZERO, rate(BPS / 2)).unwrap();
    assert_eq!(d.backlog_packets(), 1);
    let gap = rate(BPS).tx_time(1000);
    assert!(d.dequeue(Time::ZERO + gap, &mut rng, &mut drops).is_some());
    d.enqueue(Time::ZERO + gap, packet(0, 1, 1000), &mut rng, &mut drops);
    let slower = rate(BPS / 2).tx_time(1000);
    assert_eq!(
        d.next_wake(Time::ZERO + gap),
        Some(Time::ZERO + gap + slower)
    );
    spec.with.insert("size".to_owned(), 3.into());
    let why = resolve(&spec).unwrap_err();
    assert_eq!(why.path, "policies.policy.own.with");
    assert!(why.message.contains("there is no setting `size`"), "{why}");
}

/// The contract finds each mistake, and says what it is.
#[test]
fn the_contract_finds_mistakes() {
    for (wrong, wanted) in [
        (LOSES, "a flush gives up all that waits"),
        (SENDS_TWICE, "once"),
        (FORGETS_WAKE, "stuck"),
        (KEEPS, "a flush gives up all that waits"),
        (HURRIES, "the wake-up moves"),
        (REORDERS, "overtakes"),
        (COUNTS_CALLS, "polling matters"),
    ] {
        let check = || HOLDS.check(|| paced(wrong), 200);
        let why = std::panic::catch_unwind(check).unwrap_err();
        let why = why
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| why.downcast_ref::<&str>().copied())
            .unwrap();
        assert!(why.contains(wanted), "{wrong}: {why}");
    }
}
