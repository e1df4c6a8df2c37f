//! What packets occupy on links, against tables and against counting by hand.

use proptest::prelude::*;
use spillgate_core::overhead::words::{NUMBERS, WORDS};
use spillgate_core::overhead::{Cells, Overhead, parse_overhead};

const VECTORS: &str = include_str!("vectors/overhead.txt");

fn numbers<T: std::str::FromStr>(text: &str) -> Vec<T> {
    let number = |n: &str| n.parse().unwrap_or_else(|_| panic!("`{n}` in the vectors"));
    text.split_whitespace().map(number).collect()
}

/// A text, what it comes to, and its sizes.
type Row = (&'static str, Overhead, Vec<u32>);

/// The lengths of the vectors and their rows.
fn vectors() -> (Vec<u16>, Vec<Row>) {
    let mut lines = VECTORS.lines().filter(|l| !l.starts_with('#'));
    let lengths = numbers(lines.next().unwrap().strip_prefix("lengths").unwrap());
    let row = |line: &'static str| {
        let [text, value, sizes]: [&str; 3] =
            line.split('|').collect::<Vec<_>>().try_into().unwrap();
        let [bytes, mpu, cells]: [&str; 3] = value
            .split_whitespace()
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        let cells = [Cells::None, Cells::Atm, Cells::Ptm]
            .into_iter()
            .find(|c| c.word() == cells)
            .unwrap();
        let overhead = Overhead::new(bytes.parse().unwrap(), mpu.parse().unwrap(), cells);
        (text.trim(), overhead, numbers(sizes))
    };
    (lengths, lines.map(row).collect())
}

#[test]
fn keywords_mean_what_the_table_says() {
    let (lengths, rows) = vectors();
    for (text, overhead, sizes) in &rows {
        assert_eq!(parse_overhead(text).as_ref(), Ok(overhead), "{text}");
        let ours: Vec<u32> = lengths.iter().map(|l| overhead.wire_len(*l)).collect();
        assert_eq!(ours, *sizes, "{text}");
    }
    // No keyword is without a row.
    let names = WORDS.iter().map(|w| w.name);
    for name in names.chain(NUMBERS.iter().map(|(name, ..)| *name)) {
        let has = |text: &str| text.split_whitespace().any(|w| w == name);
        assert!(rows.iter().any(|(text, ..)| has(text)), "{name}");
    }
}

/// Puts a frame into cells one by one.
fn cells_by_hand(mut left: i64) -> u32 {
    let mut bytes = 0;
    while left > 0 {
        bytes += 53;
        left -= 48;
    }
    bytes
}

#[test]
fn every_packet_gets_the_cells_that_aal5_needs() {
    // What stands between the IP packet and the trailer of 8 B, header by header.
    let encapsulations = [
        ("ipoa-vcmux", vec![]),
        ("ipoa-llcsnap", vec![3, 5]),               // LLC, SNAP
        ("bridged-vcmux", vec![2, 14]),             // padding, Ethernet
        ("bridged-llcsnap", vec![3, 5, 2, 14]),     // LLC, SNAP, padding, Ethernet
        ("pppoa-vcmux", vec![2]),                   // PPP
        ("pppoa-llc", vec![3, 1, 2]),               // LLC, NLPID, PPP
        ("pppoe-vcmux", vec![2, 14, 6, 2]),         // padding, Ethernet, PPPoE, PPP
        ("pppoe-llcsnap", vec![3, 5, 2, 14, 6, 2]), // LLC, SNAP, padding, Ethernet, PPPoE, PPP
    ];
    for (text, headers) in &encapsulations {
        let overhead = parse_overhead(text).unwrap();
        for len in 1..=9180 {
            let frame = i64::from(len) + headers.iter().sum::<i64>() + 8;
            assert_eq!(overhead.wire_len(len), cells_by_hand(frame), "{text} {len}");
        }
    }
    let aal5 = WORDS
        .iter()
        .filter(|w| w.cells == Some(Cells::Atm) && w.name.contains('-'));
    assert_eq!(aal5.count(), encapsulations.len());
}

#[test]
fn labels_are_part_of_what_is_put_into_cells() {
    let overhead = parse_overhead("ipoa-vcmux").unwrap();
    assert_eq!(overhead.wire_len(40), 53);
    assert_eq!(overhead.labelled_len(40, 4), 106);
    assert_eq!(overhead.labelled_len(40, 0), 53);
    assert_eq!(Overhead::NONE.labelled_len(u16::MAX, 24), 65_559);
}

#[test]
fn words_that_contradict_each_other_are_told_apart() {
    let two = [
        (
            "atm ptm",
            "`atm` and `ptm` contradict each other: atm and ptm",
        ),
        (
            "noatm pppoe-vcmux",
            "`noatm` and `pppoe-vcmux` contradict each other: noatm and atm",
        ),
        (
            "pppoe-ptm atm",
            "`pppoe-ptm` and `atm` contradict each other: ptm and atm",
        ),
        (
            "docsis conservative",
            "`docsis` and `conservative` contradict each other: noatm and atm",
        ),
        (
            "pppoe-vcmux ether-vlan bridged-llcsnap",
            "`pppoe-vcmux` and `bridged-llcsnap` contradict each other: a link wraps packets in one way",
        ),
        (
            "ethernet docsis",
            "`ethernet` and `docsis` contradict each other: a link wraps packets in one way",
        ),
        (
            "overhead 5 overhead 7",
            "`overhead 5` and `overhead 7` contradict each other",
        ),
        (
            "mpu 64 ether-vlan mpu 84",
            "`mpu 64` and `mpu 84` contradict each other",
        ),
        (
            "mpu 64 ethernet",
            "`mpu 64` and `ethernet` contradict each other",
        ),
        (
            "overhead 44 conservative",
            "`overhead 44` and `conservative` contradict each other",
        ),
        (
            "pppoe-vcmux raw",
            "`raw` takes back `pppoe-vcmux` before it: they contradict each other",
        ),
        (
            "ether-vlan none",
            "`none` takes back `ether-vlan` before it: they contradict each other",
        ),
        (
            "raw raw",
            "`raw` takes back `raw` before it: they contradict each other",
        ),
    ];
    for (text, problem) in two {
        let e = parse_overhead(text).unwrap_err();
        assert_eq!((e.message.as_str(), e.found.as_str()), (problem, text));
        assert!(e.hint.starts_with("leave one"), "{text}: {}", e.hint);
    }
}

#[test]
fn what_is_no_overhead_is_told() {
    let table = [
        ("pppoe", "`pppoe` is not a keyword of `overhead`"),
        (
            "ethernet, ether-vlan",
            "`ethernet,` is not a keyword of `overhead`",
        ),
        ("Ethernet", "`Ethernet` is not a keyword of `overhead`"),
        ("ethernet 18 B", "`18` is not a keyword of `overhead`"),
        ("overhead", "a number is missing behind `overhead`"),
        ("mpu", "a number is missing behind `mpu`"),
        (
            "overhead ethernet",
            "`ethernet` is not a number for `overhead`",
        ),
        ("overhead -65", "`-65` is not a number for `overhead`"),
        ("overhead 257", "`257` is not a number for `overhead`"),
        ("overhead 18 B", "`B` is not a keyword of `overhead`"),
        ("mpu -1", "`-1` is not a number for `mpu`"),
        ("mpu 99999999999", "`99999999999` is not a number for `mpu`"),
        ("", "this does not begin with a number"),
        ("18", "the unit is missing"),
        (
            "18 B ether-vlan",
            "`B ether-vlan` is not a unit that fits here",
        ),
        ("-4 B", "it must not be negative"),
        ("1001 B", "it is above 1000 B a packet"),
        ("1 GB", "it is above 1000 B a packet"),
    ];
    for (text, problem) in table {
        let e = parse_overhead(text).unwrap_err();
        assert_eq!((e.message.as_str(), e.found.as_str()), (problem, text));
        assert!(e.hint.starts_with("write "), "{text}: {}", e.hint);
    }
    let tags = "ether-vlan ".repeat(65);
    assert_eq!(
        parse_overhead(&tags).unwrap_err().message,
        "260 B are above 256 B a packet"
    );
    assert!(parse_overhead(&"ether-vlan ".repeat(20_000)).is_err());
}

#[test]
fn an_overhead_is_said_in_words() {
    let table = [
        ("none", "IP packet"),
        ("18 B", "IP packet + 18 B"),
        ("ethernet", "IP packet + 38 B, at least 84 B"),
        ("overhead -36", "IP packet - 36 B"),
        (
            "pppoe-llcsnap",
            "IP packet + 40 B, cells of ATM (53 B for 48 B)",
        ),
        (
            "bridged-ptm mpu 64",
            "IP packet + 22 B, at least 64 B, code of PTM (65 B for 64 B)",
        ),
    ];
    for (text, words) in table {
        assert_eq!(parse_overhead(text).unwrap().in_words(), words);
    }
}

fn any_overhead() -> impl Strategy<Value = Overhead> {
    let cells = prop::sample::select(vec![Cells::None, Cells::Atm, Cells::Ptm]);
    (-64_i16..=256, 0_u16..=256, cells).prop_map(|(n, mpu, cells)| Overhead::new(n, mpu, cells))
}

proptest! {
    #[test]
    fn longer_packets_occupy_no_less(overhead in any_overhead(), a in 1_u16.., b in 1_u16..) {
        let (short, long) = (a.min(b), a.max(b));
        prop_assert!(overhead.wire_len(short) <= overhead.wire_len(long));
    }

    #[test]
    fn a_packet_occupies_what_it_is_and_what_is_added(overhead in any_overhead(), len in 1_u16..) {
        let size = overhead.wire_len(len);
        let frame = (i32::from(len) + i32::from(overhead.per_packet())).max(overhead.mpu().into());
        prop_assert!(size >= 1 && i64::from(size) >= i64::from(frame));
        match overhead.cells() {
            Cells::None => prop_assert_eq!(i64::from(size), i64::from(frame)),
            Cells::Atm => prop_assert_eq!(size, cells_by_hand(frame.into())),
            Cells::Ptm => prop_assert!(i64::from(size) * 64 < i64::from(frame) * 65 + 64),
        }
    }

    #[test]
    fn what_is_shown_is_read_back(overhead in any_overhead()) {
        let shown = overhead.to_string();
        prop_assert_eq!(parse_overhead(&shown), Ok(overhead), "{}", shown);
        let bytes = Overhead::new(overhead.per_packet().abs() * 3, 0, Cells::None);
        prop_assert_eq!(parse_overhead(&bytes.to_string()), Ok(bytes));
    }

    #[test]
    fn no_text_panics(words in prop::collection::vec(prop::sample::select(
        WORDS.iter().map(|w| w.name).chain(["overhead", "mpu", "5", "-9", "84", "B", "\u{e9}"]).collect::<Vec<_>>()
    ), 0..8), text in "\\PC*") {
        let _ = parse_overhead(&words.join(" "));
        let _ = parse_overhead(&text);
    }
}
