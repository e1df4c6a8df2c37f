//! How fast a capture is read, and with how much memory.
//!
//! `throughput write FILE MEGABYTES` makes a capture of mixed packets; `throughput read FILE`
//! surveys it and says megabytes per second and, where the system tells, the most memory that was
//! in use.

use std::fs::File;
use std::io::{BufWriter, Write as _};

use spillgate_capture::testkit::{Pcap, ethernet, tcp4, udp4};
use spillgate_capture::{Grouping, Selection, survey};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[1..] {
        ["write", file, megabytes] => write(file, megabytes.parse()?),
        ["read", file] => read(file),
        _ => Err("usage: throughput write FILE MEGABYTES | throughput read FILE".into()),
    }
}

/// Packets of 200 to 1500 bytes on 4000 flows, whole.
fn write(path: &str, megabytes: u64) -> Result<(), Box<dyn std::error::Error>> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut file = Pcap::default();
    out.write_all(&file.header())?;
    let mut frames = Vec::new();
    for i in 0..4000_u32 {
        let src = format!("10.1.{}.{}:{}", i >> 8, i & 255, 1024 + i);
        frames.push(ethernet(&match i % 3 {
            0 => udp4(&src, "10.2.0.1:5004", 46, 172),
            1 => tcp4(&src, "10.2.0.2:443", 0, 1448),
            _ => tcp4(&src, "10.2.0.3:80", 10, 536),
        }));
    }
    let (mut written, mut number) = (0, 0_u64);
    while written < megabytes * 1_000_000 {
        for _ in 0..1000 {
            number += 1;
            let frame = &frames[(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % 4000];
            file.record(number * 10_000, frame);
        }
        let part = file.take_records();
        written += part.len() as u64;
        out.write_all(&part)?;
    }
    out.flush()?;
    println!("{written} bytes, {number} packets");
    Ok(())
}

#[allow(
    clippy::disallowed_methods,
    reason = "this measures the time that passes"
)]
fn read(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let before = std::time::Instant::now();
    let found = survey(
        File::open(path)?,
        &Selection::default(),
        Grouping::Flow,
        100_000,
    );
    let found = found.map_err(|e| format!("{e:?}"))?;
    let seconds = before.elapsed().as_secs_f64();
    println!(
        "{} bytes, {} packets, {} flows in {seconds:.2} s: {:.0} MB/s, {:.2} million packets/s",
        found.file_len,
        found.packets,
        found.flows.groups(),
        found.file_len as f64 / 1e6 / seconds,
        found.packets as f64 / 1e6 / seconds,
    );
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        let most = status.lines().find(|l| l.starts_with("VmHWM"));
        println!("{}", most.unwrap_or_default());
    }
    Ok(())
}
