use super::*;
use crate::aqm::tests::facts;
use crate::aqm::{Automaton, Backlog};
use crate::recipe::test_at;
use spillgate_core::{Packet, Size, Time};

/// Values computed from the equations of the paper by hand.
#[test]
fn two_slopes_meet_in_the_middle() {
    let dsred = Dsred(DsredSpec::default());
    let curve = dsred.curve(&(), 0);
    let rows = [
        (5.99, Region::Pass),
        (10.0, Region::Random(0.022_857_14)),
        (13.0, Region::Random(0.04)),
        (16.5, Region::Random(0.52)),
        (19.0, Region::Random(0.862_857_14)),
        (20.0, Region::Certain),
    ];
    for (average, expected) in rows {
        match (dsred.region(&curve, average, false), expected) {
            (Region::Random(p), Region::Random(want)) => {
                assert!((p - want).abs() < 5e-9, "{average}: {p}");
            }
            (found, want) => assert_eq!(found, want, "{average}"),
        }
    }
}

/// The average of 20 packets from an empty queue on: 20 (1 - 0.93^n).
#[test]
fn the_average_has_the_weight_of_the_paper() {
    let mut dsred = test_at(|at| DsredSpec::default().resolve(at, &facts())).unwrap();
    let mut vars = dsred.vars();
    let mut rng = spillgate_core::Rng::from_key(1);
    let packet = Packet::new(0, 0, 500);
    let rows = [(1, 1.4), (5, 6.086_233), (10, 10.320_354), (50, 19.468_899)];
    let mut n = 0;
    for (until, expected) in rows {
        while n < until {
            dsred.arrival(
                &mut vars,
                Time::ZERO,
                &Backlog::of(20, 0),
                &packet,
                &mut rng,
            );
            n += 1;
        }
        let value = dsred.average(&vars).unwrap();
        assert!((value - expected).abs() < 5e-7, "{n}: {value}");
    }
}

#[test]
fn wrong_parameters_are_refused() {
    let fails = |spec: DsredSpec| test_at(|at| spec.resolve(at, &facts())).is_err();
    let spec = DsredSpec::default;
    assert!(!fails(spec()));
    assert!(fails(DsredSpec {
        max_th: 6.0,
        ..spec()
    }));
    assert!(fails(DsredSpec {
        gamma: 1.1,
        ..spec()
    }));
    assert!(fails(DsredSpec {
        weight: 0.0,
        ..spec()
    }));
    assert!(fails(DsredSpec {
        mean_packet: Size(0),
        ..spec()
    }));
}
