use super::super::tests::{Script, facts};
use super::*;
use crate::aqm::Managed;
use crate::recipe::test_at;
use spillgate_core::Rng;
use std::collections::VecDeque;

/// The average is the queue itself, so that lengths can be told by hand.
fn choke(variant: Option<ChokeVariant>) -> Managed<Choke> {
    let spec = ChokeSpec {
        variant,
        weight: 1.0,
        ..ChokeSpec::default()
    };
    Managed::new(test_at(|at| spec.resolve(at, &facts())).unwrap())
}

/// At the lower threshold nothing is compared and nothing drawn; above it a packet of the queue is
/// chosen, each as likely.
#[test]
fn a_packet_of_the_queue_is_chosen_above_the_threshold() {
    for (waiting, draws, at) in [
        (0, &[][..], None),
        (5, &[], None),
        (6, &[0.0], Some(0)),
        (6, &[0.34], Some(2)),
        (6, &[0.999_999], Some(5)),
    ] {
        let mut c = choke(None);
        let mut script = Script::new(draws);
        let backlog = Backlog::of(waiting, 0);
        let found = c
            .automaton
            .picks(&mut c.vars, Time::ZERO, &backlog, &mut script);
        assert_eq!((found, script.drawn), (at, draws.len()), "{waiting}");
    }
    // An average above the threshold of an empty queue has nothing to compare with.
    let mut c = choke(None);
    c.vars.average.value = 9.0;
    c.automaton.average = AverageParams::new(1e-9, 500, facts().rate, crate::aqm::RedIdle::None);
    let none = c.automaton.picks(
        &mut c.vars,
        Time::ZERO,
        &Backlog::of(0, 0),
        &mut Script::new(&[]),
    );
    assert_eq!(none, None);
}

/// CHOKe and its queue in plain words: flows in a list, one list of random numbers; what became of
/// each arrival, and the queue in the end. A match leaves RED's count alone.
fn plainly(arrivals: &[(u32, usize)], draws: &[f64], linux: bool) -> (Vec<&'static str>, Vec<u32>) {
    let mut draws = draws.iter().copied();
    let mut queue: Vec<u32> = Vec::new();
    let (mut count, mut r) = (-1_i64, 0.0_f64);
    let mut became = Vec::new();
    for (flow, leave) in arrivals {
        queue.drain(..(*leave).min(queue.len()));
        let average = queue.len() as f64;
        if average <= 5.0 {
            count = -1;
            queue.push(*flow);
            became.push("in");
            continue;
        }
        let at = (draws.next().unwrap() * average).floor() as usize;
        if queue[at] == *flow {
            queue.remove(at);
            became.push("match");
            continue;
        }
        if average > 15.0 {
            count = if linux { -1 } else { 0 };
            became.push("forced");
            continue;
        }
        let p = 0.1 * (average - 5.0) / 10.0;
        count += 1;
        let hit = if linux {
            if count == 0 {
                r = draws.next().unwrap();
                false
            } else {
                count as f64 * p >= r
            }
        } else {
            let spread = count as f64 * p;
            let p_a = if spread < 1.0 {
                (p / (1.0 - spread)).min(1.0)
            } else {
                1.0
            };
            draws.next().unwrap() < p_a
        };
        if hit {
            count = 0;
            if linux {
                r = draws.next().unwrap();
            }
            became.push("early");
        } else {
            queue.push(*flow);
            became.push("in");
        }
    }
    (became, queue)
}

#[test]
fn it_is_what_it_is_in_plain_words() {
    let mut rng = Rng::from_key(13);
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..300 {
        let linux = rng.below(2) == 0;
        let mut c = choke(linux.then_some(ChokeVariant::Linux));
        let flows = 1 + rng.below(8);
        let arrivals: Vec<_> = (0..300)
            .map(|_| {
                (
                    rng.below(flows),
                    rng.below(3) as usize * usize::from(rng.below(2) == 0),
                )
            })
            .collect();
        let draws: Vec<_> = (0..700).map(|_| rng.f64()).collect();
        let mut script = Script::new(&draws);
        let mut queue: VecDeque<u32> = VecDeque::new();
        let mut became = Vec::new();
        for (flow, leave) in &arrivals {
            queue.drain(..(*leave).min(queue.len()));
            let packet = Packet::new(*flow, 0, 1000);
            let backlog = Backlog::of(queue.len() as u32, 0);
            let now = Time::ZERO;
            let picked = c.automaton.picks(&mut c.vars, now, &backlog, &mut script);
            became.push(match picked.filter(|at| queue[*at as usize] == *flow) {
                Some(at) => {
                    c.automaton.matched();
                    queue.remove(at as usize);
                    "match"
                }
                None => match c.arrival(now, &backlog, &packet, &mut script) {
                    Verdict::Drop(DropReason::Forced) => "forced",
                    Verdict::Drop(_) => "early",
                    _ => {
                        queue.push_back(*flow);
                        "in"
                    }
                },
            });
        }
        seen.extend(became.iter().copied());
        let expected = plainly(&arrivals, &draws, linux);
        assert_eq!((became, Vec::from(queue)), expected, "{round} {linux}");
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}
