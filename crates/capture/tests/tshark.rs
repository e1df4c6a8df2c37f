//! The same captures read by tshark, where it is installed.

use std::process::Command;

use crate::common::{LINKS, pcap, pcapng, read};
use spillgate_capture::{IpPacket, LinkType};

/// Time in seconds since 1970, addresses, length, DSCP, ports.
fn line(at: i128, p: &IpPacket) -> String {
    let (k, ps) = (&p.key, 1_000_000_000_000);
    // Nine decimals, as tshark writes.
    format!(
        "{}.{:09} {} {} {} {} {} {} {}",
        at / ps,
        at % ps / 1000,
        k.src,
        k.dst,
        p.len,
        p.dscp.value(),
        k.protocol,
        k.sport,
        k.dport
    )
}

/// What tshark says of the IP packets; none if it is not installed.
fn tshark(bytes: &[u8], name: &str) -> Option<Vec<String>> {
    let path = std::env::temp_dir().join(format!("spillgate-{}-{name}", std::process::id()));
    std::fs::write(&path, bytes).expect("a temporary file");
    let fields = [
        "frame.time_epoch",
        "ip.src",
        "ipv6.src",
        "ip.dst",
        "ipv6.dst",
        "ip.len",
        "ipv6.plen",
        "ip.dsfield.dscp",
        "ipv6.tclass.dscp",
        "ip.proto",
        "ipv6.nxt",
        "udp.srcport",
        "tcp.srcport",
        "udp.dstport",
        "tcp.dstport",
    ];
    let mut command = Command::new("tshark");
    command
        .arg("-n")
        .arg("-r")
        .arg(&path)
        .args(["-T", "fields"]);
    fields.iter().for_each(|f| {
        command.args(["-e", f]);
    });
    let output = command.output();
    let _ = std::fs::remove_file(&path);
    let output = match output {
        Ok(o) => o,
        Err(e) => {
            assert!(std::env::var_os("SPILLGATE_NEED_TSHARK").is_none(), "{e}");
            eprintln!("SKIPPED: tshark cannot be run: {e} (on Debian: apt install tshark)");
            return None;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = text.lines().filter_map(|l| {
        let f: Vec<&str> = l.split('\t').collect();
        let either = |a: usize, b: usize| if f[a].is_empty() { f[b] } else { f[a] };
        let len: u32 = match f[6] {
            "" => f[5].parse().ok()?,
            payload => 40 + payload.parse::<u32>().ok()?,
        };
        Some(format!(
            "{} {} {} {len} {} {} {} {}",
            f[0],
            either(1, 2),
            either(3, 4),
            either(7, 8),
            either(9, 10),
            either(11, 12),
            either(13, 14),
        ))
    });
    Some(lines.collect())
}

#[test]
fn tshark_sees_the_same_packets() {
    let mut files = vec![
        (pcapng(false), "little.pcapng".to_owned()),
        (pcapng(true), "big.pcapng".to_owned()),
    ];
    for link in LINKS {
        // Raw IPv4 may not hold IPv6, PPPoE without Ethernet is one that tshark takes.
        if link != LinkType::IPV4 {
            files.push((
                pcap(link, link.0 % 2 == 1, link.0 % 3 == 0),
                format!("{link}.pcap"),
            ));
        }
    }
    for (bytes, name) in files {
        let Some(theirs) = tshark(&bytes, &name) else {
            return;
        };
        let (found, _) = read(&bytes).expect("a capture");
        let ours: Vec<_> = found.iter().map(|(at, p)| line(*at, p)).collect();
        assert_eq!(ours, theirs, "{name}");
        assert_eq!(ours.len(), 8);
    }
}
