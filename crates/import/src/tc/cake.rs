//! `cake` (tc-cake(8)).

use spillgate_core::{Cells, Dur, Overhead, Size};
use spillgate_queueing::spec::{CakeAckFilter, CakeIsolation, CakeSpec, CakeTins};

use crate::ios::fault::Fault;

use super::line::{Args, wrong};
use super::queue::{Idle, Queue};
use super::units::{rate, size, time};

/// The usual round-trip times by their keywords.
const ROUND_TRIPS: [(&str, Dur); 8] = [
    ("datacentre", Dur::from_us(100)),
    ("lan", Dur::from_ms(1)),
    ("metro", Dur::from_ms(10)),
    ("regional", Dur::from_ms(30)),
    ("internet", Dur::from_ms(100)),
    ("oceanic", Dur::from_ms(300)),
    ("satellite", Dur::from_secs(1)),
    ("interplanetary", Dur::from_secs(3600)),
];

/// What lines add to an IP packet, by their keywords: bytes, the shortest frame, cells.
const LINES: [(&str, i16, u16, Cells); 12] = [
    ("conservative", 48, 0, Cells::Atm),
    ("ipoa-vcmux", 8, 0, Cells::Atm),
    ("ipoa-llcsnap", 16, 0, Cells::Atm),
    ("bridged-vcmux", 24, 0, Cells::Atm),
    ("bridged-llcsnap", 32, 0, Cells::Atm),
    ("pppoa-vcmux", 10, 0, Cells::Atm),
    ("pppoa-llc", 14, 0, Cells::Atm),
    ("pppoe-vcmux", 32, 0, Cells::Atm),
    ("pppoe-llcsnap", 40, 0, Cells::Atm),
    ("pppoe-ptm", 30, 0, Cells::Ptm),
    ("bridged-ptm", 22, 0, Cells::Ptm),
    ("docsis", 18, 64, Cells::None),
];

pub(super) fn cake<'w>(mut args: Args<'w>, idle: &mut Idle<'w>) -> Result<Queue, Fault> {
    let mut spec = CakeSpec::default();
    // What the kernel counts until something is said.
    let mut line: Option<(i16, u16, Cells)> = None;
    let said = |line: Option<(i16, u16, Cells)>| line.unwrap_or((14, 0, Cells::None));
    while let Some(word) = args.next() {
        let text = word.text.as_str();
        if let Some((_, rtt)) = ROUND_TRIPS.iter().find(|(name, _)| *name == text) {
            spec.rtt = *rtt;
            continue;
        }
        if let Some((_, bytes, mpu, cells)) = LINES.iter().find(|(name, ..)| *name == text) {
            line = Some((*bytes, *mpu, *cells));
            continue;
        }
        match text {
            "bandwidth" => spec.bandwidth = Some(args.read("a rate", rate)?),
            "unlimited" => spec.bandwidth = None,
            "rtt" => spec.rtt = args.read("a time", time)?,
            "memlimit" => spec.memory_limit = Some(Size(args.read("a size", size)?)),
            "besteffort" => spec.tins = CakeTins::Besteffort,
            "precedence" => spec.tins = CakeTins::Precedence,
            "diffserv3" => spec.tins = CakeTins::Diffserv3,
            "diffserv4" => spec.tins = CakeTins::Diffserv4,
            "diffserv8" => spec.tins = CakeTins::Diffserv8,
            "flowblind" => spec.isolation = CakeIsolation::Flowblind,
            "srchost" => spec.isolation = CakeIsolation::Srchost,
            "dsthost" => spec.isolation = CakeIsolation::Dsthost,
            "hosts" => spec.isolation = CakeIsolation::Hosts,
            "flows" => spec.isolation = CakeIsolation::Flows,
            "dual-srchost" => spec.isolation = CakeIsolation::DualSrchost,
            "dual-dsthost" => spec.isolation = CakeIsolation::DualDsthost,
            "triple-isolate" => spec.isolation = CakeIsolation::TripleIsolate,
            "nat" => spec.nat = true,
            "nonat" => spec.nat = false,
            "ingress" => spec.ingress = true,
            "egress" => spec.ingress = false,
            "raw" => line = None,
            "ethernet" => line = Some((38, 84, Cells::None)),
            "ether-vlan" => {
                let (bytes, mpu, cells) = said(line);
                line = Some((bytes + 4, mpu, cells));
            }
            "overhead" => {
                let (_, mpu, cells) = said(line);
                let within = |n: &i16| (-64..=256).contains(n);
                let read = |t: &str| t.parse().ok().filter(within);
                line = Some((args.read("a number from -64 to 256", read)?, mpu, cells));
            }
            "mpu" => {
                let (bytes, _, cells) = said(line);
                let read = |t: &str| t.parse().ok().filter(|n| *n <= 256_u16);
                line = Some((bytes, args.read("a number from 0 to 256", read)?, cells));
            }
            "atm" | "ptm" | "noatm" => {
                let (bytes, mpu, _) = said(line);
                let cells = match text {
                    "atm" => Cells::Atm,
                    "ptm" => Cells::Ptm,
                    _ => Cells::None,
                };
                line = Some((bytes, mpu, cells));
            }
            "no-ack-filter" => spec.ack_filter = CakeAckFilter::No,
            "ack-filter" => spec.ack_filter = CakeAckFilter::Filter,
            "ack-filter-aggressive" => spec.ack_filter = CakeAckFilter::Aggressive,
            "nowash" | "split-gso" | "no-split-gso" | "via-ethernet" => {}
            "wash" => idle.push((word, "code points of packets stay here")),
            "autorate-ingress" => {
                idle.push((word, "the bandwidth does not follow the traffic here"));
            }
            "fwmark" => {
                idle.push((word, "packets have no mark of a firewall here"));
                args.value("a mask")?;
            }
            _ => return Err(wrong(word, "is no option of cake that is known")),
        }
    }
    spec.overhead = line.map(|(bytes, mpu, cells)| Overhead::new(bytes, mpu, cells));
    Ok(Queue::Cake(spec))
}
