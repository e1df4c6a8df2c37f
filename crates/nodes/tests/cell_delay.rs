//! The cell delay variation of CBR circuits at a port of an ATM switch.
//!
//! Let n + 1 circuits of CBR, no two cells of one closer than n + 2 cell times δ, share a port with
//! anything of lower categories. A cell waits for the cell that is being sent, at most δ, and for
//! at most one cell of each of the n others: it could have been two only if one of them had waited
//! for longer than its period. So it waits at most (n + 1) δ, and its delay varies by that much;
//! without lower categories the cell that is being sent is one of the n, and it is n δ.

use spillgate_core::{Dur, Rate, Time};
use spillgate_nodes::atm::{
    Arrived, AtmSwitchSpec, CbrSpec, Cell, CellPort, CellQueues, CellService, Contract,
    ContractSpec,
};

const SLOT: Dur = Dur::from_ps(1000);
/// Beside the one that is looked at.
const OTHERS: u32 = 5;
/// With cells whenever the line is free.
const GREEDY: u32 = 3;

/// The least and the longest wait of the cells of circuit 0, of period 20,007 ps. Those of the
/// others all come at once, each 20,008 ps, so that every 20,007 of their periods circuit 0 passes
/// them by.
fn waits(service: CellService, greedy: u32) -> (u64, u64) {
    let line = Rate::from_bps(1_000_000_000).unwrap();
    let cbr = ContractSpec::Cbr(CbrSpec {
        pcr: Rate::from_bps(1_000_000).unwrap(),
        cdvt: Dur::ZERO,
    });
    let mut contracts = vec![cbr.resolve(line).unwrap(); OTHERS as usize + 1];
    contracts.extend((0..greedy).map(|_| Contract::whole(line)));
    let spec = AtmSwitchSpec {
        queues: CellQueues::PerVc,
        service,
        ..AtmSwitchSpec::default()
    };
    let mut port = CellPort::new(spec.recipe().unwrap(), SLOT, &contracts);
    let cell = |circuit, frame| Cell {
        frame,
        circuit,
        last: true,
        tagged: false,
    };
    let (mut one, mut all) = (Time::from_ps(10_000), Time::ZERO);
    let (mut number, mut came) = (0, Vec::new());
    let mut free: Option<Time> = None;
    let (mut least, mut longest) = (u64::MAX, 0);
    let mut waited = |came: &[Time], frame: u64, start: Time| {
        let wait = start.since(came[frame as usize]).as_ps();
        (least, longest) = (least.min(wait), longest.max(wait));
    };
    for circuit in OTHERS + 1..=OTHERS + greedy {
        for _ in 0..2 {
            if let Arrived::Sent(until) = port.arrive(Time::ZERO, cell(circuit, 0)) {
                free = Some(until);
            }
        }
    }
    while came.len() < 500_000 {
        let next = one.min(all);
        if let Some(now) = free.filter(|f| *f <= next) {
            let (sent, until) = port.sent(now).unwrap();
            free = until;
            if sent.circuit == 0 {
                // It began to be sent a cell time ago.
                waited(&came, sent.frame, Time::from_ps(now.as_ps() - SLOT.as_ps()));
            }
            if sent.circuit > OTHERS {
                port.arrive(now, cell(sent.circuit, 0));
            }
            continue;
        }
        let mut arrive = |circuit, frame| {
            if let Arrived::Sent(until) = port.arrive(next, cell(circuit, frame)) {
                free = Some(until);
            }
        };
        if one <= all {
            came.push(one);
            arrive(0, number);
            number += 1;
            one += Dur::from_ps(20_007);
        } else {
            (1..=OTHERS).for_each(|circuit| arrive(circuit, 0));
            all += Dur::from_ps(20_008);
        }
    }
    (least, longest)
}

/// The bounds hold, and are reached but for a hundredth of a cell time: phases move by steps of a
/// picosecond, of which δ has 1,000.
#[test]
fn the_delay_of_cbr_varies_by_at_most_the_cells_that_can_be_before_it() {
    let (slot, others) = (SLOT.as_ps(), u64::from(OTHERS));
    for (service, greedy, cells) in [
        (CellService::RoundRobin, 0, others),
        (CellService::Priority, 0, others),
        (CellService::Priority, GREEDY, others + 1),
    ] {
        let (least, longest) = waits(service, greedy);
        let found = format!("{service:?} {greedy}: {least} to {longest} ps");
        assert!(longest <= cells * slot, "{found}");
        assert!(longest - least > cells * slot - slot / 100, "{found}");
    }
    // Without categories each greedy circuit has its turn too.
    let (_, longest) = waits(CellService::RoundRobin, GREEDY);
    let bound = (others + 1 + u64::from(GREEDY)) * slot;
    assert!(
        longest <= bound && longest > bound - slot / 100,
        "{longest}"
    );
}
