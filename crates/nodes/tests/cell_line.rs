//! Lines that circuits share: conformance, turns, priorities and rates.

use proptest::prelude::*;
use spillgate_core::{Rate, aal5::CELL};

use spillgate_core::{Dur, Time};
use spillgate_nodes::atm::{
    CbrSpec, CellLine, CellShaper, Contract, ContractSpec, Gcra, SentCell, UbrSpec, VbrSpec,
};

const LINE: u64 = 42_400_000;
const SLOT: Dur = Dur::from_us(10);

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).unwrap()
}

fn resolve(spec: &ContractSpec) -> Contract {
    spec.resolve(rate(LINE)).unwrap()
}

fn cbr(pcr: u64) -> Contract {
    resolve(&ContractSpec::Cbr(CbrSpec {
        pcr: rate(pcr),
        cdvt: Dur::ZERO,
    }))
}

fn ubr() -> Contract {
    resolve(&ContractSpec::Ubr(UbrSpec::default()))
}

fn line(contracts: &[Contract]) -> CellLine {
    CellLine::new(SLOT, contracts.iter().map(|c| (c, c)))
}

/// Sends until `end`; a circuit whose packet has left begins with another of so many cells at once.
fn saturate(line: &mut CellLine, cells: &[u32], end: Time) -> Vec<SentCell> {
    saturate_from(line, cells, Time::ZERO, end)
}

/// The same where all begin at `start`.
fn saturate_from(line: &mut CellLine, cells: &[u32], start: Time, end: Time) -> Vec<SentCell> {
    for (circuit, cells) in (0..).zip(cells) {
        line.begin(circuit, start, *cells);
    }
    let mut sent = Vec::new();
    while line.next().is_some_and(|t| t <= end) {
        let cell = line.send().unwrap();
        if cell.last {
            let ready = line.ready(cell.circuit).max(cell.end);
            line.begin(cell.circuit, ready, cells[cell.circuit as usize]);
        }
        sent.push(cell);
    }
    sent
}

#[test]
fn circuits_of_a_priority_take_turns() {
    let mut line = line(&[ubr(), ubr(), ubr()]);
    let sent = saturate(&mut line, &[32, 1, 7], Time::ZERO + SLOT * 300);
    assert!(
        sent.iter()
            .zip(0..)
            .all(|(c, i)| c.circuit == i % 3 && c.start == Time::ZERO + SLOT * u64::from(i))
    );
}

/// One cell in 2.5 slots: a slot that has begun ends, and the wait for it is made up for.
#[test]
fn what_goes_first_waits_for_a_slot_and_keeps_its_rate() {
    let mut line = line(&[ubr(), cbr(LINE * 2 / 5)]);
    let sent = saturate(&mut line, &[100, 4], Time::ZERO + SLOT * 1000);
    assert_eq!(sent.len(), 1000);
    let first: Vec<u64> = sent
        .iter()
        .filter(|c| c.circuit == 1)
        .map(|c| c.start.as_ps() / SLOT.as_ps())
        .collect();
    // Ideally at 0, 2.5, 5, ...
    let wanted: Vec<u64> = (0..400).map(|i: u64| (5 * i).div_ceil(2)).collect();
    assert_eq!(first, wanted);
}

/// A minimum rate is had behind a circuit that goes first and leaves 0.4 of the line, among two
/// that take turns: a quarter of the line, and a third of what is left.
#[test]
fn a_minimum_rate_is_kept_among_best_effort() {
    let minimum = resolve(&ContractSpec::Ubr(UbrSpec {
        mdcr: Some(rate(LINE / 4)),
        ..UbrSpec::default()
    }));
    let mut line = line(&[ubr(), minimum, ubr(), cbr(LINE * 3 / 5)]);
    let sent = saturate(&mut line, &[7, 20, 32, 4], Time::ZERO + SLOT * 20_000);
    let cells = [0, 1, 2, 3].map(|n| sent.iter().filter(|c| c.circuit == n).count());
    let of = |share: f64| share * 20_000.0;
    let rest = (0.4 - 0.25) / 3.0;
    let wanted = [of(rest), of(0.25 + rest), of(rest), of(0.6)];
    for (cells, wanted) in cells.into_iter().zip(wanted) {
        // Turns differ by a cell, and so do minimum and constant rate at the end.
        assert!((cells as f64 - wanted).abs() <= 3.0, "{cells} {wanted}");
    }
}

/// Nothing of a minimum rate is saved while its circuit is silent: of 1,000 slots after 10,000 it
/// has a quarter, and a half of the rest.
#[test]
fn no_minimum_rate_is_saved_while_a_circuit_is_silent() {
    let minimum = resolve(&ContractSpec::Ubr(UbrSpec {
        mdcr: Some(rate(LINE / 4)),
        ..UbrSpec::default()
    }));
    let mut line = line(&[ubr(), minimum]);
    let (start, end) = (Time::ZERO + SLOT * 10_000, Time::ZERO + SLOT * 11_000);
    let sent = saturate_from(&mut line, &[7, 20], start, end);
    let cells = sent.iter().filter(|c| c.circuit == 1).count();
    // Turns differ by a cell, and so does the minimum rate at either end.
    assert!((622..=628).contains(&cells), "{cells}");
}

fn contract() -> impl Strategy<Value = Contract> {
    let cdvt = prop_oneof![Just(0), 0_u64..200_000_000].prop_map(Dur::from_ps);
    (0..4_u8, 1_000_000..=LINE, 1_u64..=100, 1_u32..60, cdvt).prop_map(
        |(kind, pcr, percent, mbs, cdvt)| {
            let (pcr, scr) = (rate(pcr), rate(pcr * percent / 100));
            let vbr = VbrSpec {
                pcr,
                scr,
                mbs,
                cdvt,
            };
            resolve(&match kind {
                0 => ContractSpec::Cbr(CbrSpec { pcr, cdvt }),
                1 => ContractSpec::RtVbr(vbr),
                2 => ContractSpec::NrtVbr(vbr),
                _ => ContractSpec::Ubr(UbrSpec {
                    pcr: Some(pcr),
                    cdvt,
                    ..UbrSpec::default()
                }),
            })
        },
    )
}

proptest! {
    /// Whatever the others do: cells conform to their contract and the lateness that is made up
    /// for, the line never sends two at once and never waits for nothing, a cell waits only for
    /// cells of no lower priority and one that had begun, and packets end no earlier than was
    /// foretold.
    #[test]
    fn cells_of_all_circuits_conform(
        contracts in prop::collection::vec(contract(), 1..6),
        packets in prop::collection::vec((0_u64..3_000_000_000, 1_u32..60), 1..200),
    ) {
        let mut line = line(&contracts);
        let lateness = CellLine::lateness(SLOT, contracts.len());
        let mut policers: Vec<Vec<Gcra>> = contracts.iter().map(|c| {
            let all = [c.peak()].into_iter().chain(c.sustained());
            all.map(|g| Gcra::new(g.increment(), g.limit() + lateness)).collect()
        }).collect();
        let mut packets = packets.into_iter();
        let mut waiting: Vec<Option<(Time, Time)>> = vec![None; contracts.len()];
        let mut next_packet = vec![Time::ZERO; contracts.len()];
        let (mut free, mut sent) = (Time::ZERO, 0);
        loop {
            // The circuit that can begin first does, if that is before the next slot begins.
            let idle = (0..contracts.len()).filter(|c| waiting[*c].is_none());
            let first = idle.min_by_key(|c| next_packet[*c].max(line.ready(*c as u32)));
            if let Some(c) = first {
                let at = next_packet[c].max(line.ready(c as u32));
                let slot = line.next().map_or(Time::MAX, |t| Time::ZERO + t.since(Time::ZERO + SLOT));
                if at <= slot {
                    let Some((gap, cells)) = packets.next() else { break };
                    line.begin(c as u32, at, cells);
                    waiting[c] = Some((at, line.sent_from(c as u32).unwrap()));
                    next_packet[c] = at + Dur::from_ps(gap);
                    continue;
                }
            }
            let cell = line.send().unwrap();
            let c = cell.circuit as usize;
            prop_assert!(cell.start >= free && cell.end == cell.start + SLOT);
            prop_assert!(policers[c].iter_mut().all(|p| p.police(cell.start)));
            for (other, w) in waiting.iter().enumerate().filter(|(_, w)| w.is_some()) {
                let may = line.ready(other as u32);
                // It may leave, but its priority is lower, or as high and it came later.
                let is_behind = contracts[other].priority() >= contracts[c].priority();
                prop_assert!(other == c || may > cell.start || is_behind, "{:?}", w);
            }
            free = cell.end;
            sent += 1;
            if cell.last {
                let (_, foretold) = waiting[c].take().unwrap();
                prop_assert!(cell.end >= foretold);
            }
        }
        let mut left = 0;
        line.run_out(|_| left += 1);
        prop_assert!(sent > 0 || left > 0);
    }

    /// Alone, cells leave as the shaper of the circuit has them.
    #[test]
    fn alone_it_is_its_shaper(
        contract in contract(),
        packets in prop::collection::vec((0_u64..2_000_000_000, 1_u32..200), 1..20),
    ) {
        let idle = cbr(LINE);
        for others in 0..3 {
            let contracts = [vec![contract.clone()], vec![idle.clone(); others]].concat();
            let (mut line, mut shaper) = (line(&contracts), CellShaper::new(&contract, SLOT));
            let mut now = Time::ZERO;
            for (gap, cells) in &packets {
                now = (now + Dur::from_ps(*gap)).max(line.ready(0));
                prop_assert_eq!(line.ready(0), shaper.ready());
                line.begin(0, now, *cells);
                let train = shaper.send(now, *cells);
                let end = train.runs().last().unwrap().last() + SLOT;
                prop_assert_eq!(line.sent_from(0), Some(end));
                // At once, and one by one.
                let mut copy = line.clone();
                prop_assert_eq!(copy.send_alone(Time::from_ps(end.as_ps() - 1)), None);
                let (first, number, last) = copy.send_alone(end).unwrap();
                prop_assert!(first.start == now && number == *cells && last.end == end && last.last);
                prop_assert!(copy.ready(0) == shaper.ready() && copy.next().is_none());
                for at in train.times() {
                    prop_assert_eq!(line.send().unwrap().start, at);
                }
            }
        }
    }
}

/// In the long run a sustainable rate is kept beside a circuit that fills the line and one that
/// goes as early, within 0.1 %: of more than 100,000 cells MBS may be too many, and one too many or
/// too few at the end. T is less than 1 ps too short.
#[test]
fn rates_are_kept_where_there_is_room() {
    let vbr = |pcr, scr, mbs| {
        resolve(&ContractSpec::NrtVbr(VbrSpec {
            pcr: rate(pcr),
            scr: rate(scr),
            mbs,
            cdvt: Dur::ZERO,
        }))
    };
    for (pcr, scr, mbs) in [
        (LINE / 2, LINE / 3, 100),
        (LINE, 7_777_777, 1),
        (LINE / 3, LINE / 3, 9),
    ] {
        let mut line = line(&[vbr(pcr, scr, mbs), ubr(), vbr(LINE / 2, LINE / 3, 50)]);
        let end = Time::ZERO + SLOT * 600_000;
        let sent = saturate(&mut line, &[30, 30, 30], end);
        let cells = sent.iter().filter(|c| c.circuit == 0).count() as f64;
        let got = cells * f64::from(CELL) * 8.0 / end.as_secs_f64();
        let most = f64::from(mbs + 2) / cells;
        let off = (got / scr as f64 - 1.0).abs();
        assert!(most < 1e-3 && off < most, "{got} {scr}");
    }
}
