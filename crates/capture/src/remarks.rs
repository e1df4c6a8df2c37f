//! What a person should know of a capture before believing what comes of it.

use crate::counts::Counts;
use crate::error::CaptureError;

/// A count with its noun.
fn n(count: u64, one: &str, many: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {many}")
    }
}

/// What a person should know before believing what comes of a capture: one sentence for each thing
/// that is not as it was on the wire.
pub fn remarks(counts: &Counts, cut_short: Option<&CaptureError>) -> Vec<String> {
    let mut all = Vec::new();
    let mut say = |count: u64, text: &dyn Fn() -> String| {
        if count > 0 {
            all.push(text());
        }
    };
    say(u64::from(cut_short.is_some()), &|| {
        let e = cut_short.map(ToString::to_string).unwrap_or_default();
        format!("the file ends within a record, {e}")
    });
    say(counts.not_ip(), &|| {
        let kinds: Vec<String> = counts.others().map(|(k, n)| format!("{n} {k}")).collect();
        let records = n(counts.not_ip(), "record is", "records are");
        format!(
            "{records} without an IP packet and left out: {}",
            kinds.join(", ")
        )
    });
    say(counts.backwards, &|| {
        let records = n(counts.backwards, "record is", "records are");
        let most = counts.most_backwards as f64 / 1e9;
        format!(
            "{records} earlier than one before, by {most:.3} ms at most, and taken to be simultaneous with it"
        )
    });
    say(counts.untimed, &|| {
        let records = n(counts.untimed, "record has", "records have");
        format!("{records} no time and taken to be simultaneous with the one before")
    });
    say(counts.ports_cut, &|| {
        let packets = n(counts.ports_cut, "packet was", "packets were");
        format!(
            "of {packets} captured too little to know the ports, which count as 0; capture 128 bytes at least (tcpdump -s 128)"
        )
    });
    say(counts.guessed_len, &|| {
        let packets = n(counts.guessed_len, "packet says", "packets say");
        format!(
            "{packets} a length that cannot be true, as with segmentation offload; the record's length is taken"
        )
    });
    say(counts.large, &|| {
        let packets = n(counts.large, "packet is", "packets are");
        format!(
            "{packets} longer than 1500 bytes: jumbo frames, or segments that the network card cut or joined (ethtool -K IF gro off gso off tso off); the wire may have seen shorter ones"
        )
    });
    say(counts.fragments, &|| {
        let packets = n(
            counts.fragments,
            "packet is a fragment",
            "packets are fragments",
        );
        format!("{packets}; those behind the first of a datagram have no ports")
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_strange_gives_no_remark() {
        let mut counts = Counts {
            records: 10,
            ip: 10,
            ..Counts::default()
        };
        assert!(remarks(&counts, None).is_empty());
        counts.records = 12;
        counts.other[0] = 2;
        counts.backwards = 1;
        counts.most_backwards = 2_500_000_000;
        let all = remarks(&counts, None);
        assert_eq!(
            all[0],
            "2 records are without an IP packet and left out: 2 ARP"
        );
        assert!(all[1].starts_with("1 record is earlier than one before, by 2.500 ms"));
    }
}
