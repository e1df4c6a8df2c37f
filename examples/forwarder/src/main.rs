//! Forwards real packets through a bottleneck of a given rate: UDP datagrams, or what comes to a
//! TUN device.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use spillgate_core::units::parse_rate;
use spillgate_core::{Dur, Ecn, Time};
use spillgate_forwarder::{Bottleneck, Header};

#[cfg(target_os = "linux")]
mod tun;

const USAGE: &str = "usage: spillgate-forwarder --to ADDRESS:PORT --rate RATE [--listen ADDRESS:PORT] [--policy POLICY]
       spillgate-forwarder --tun NAME --out NAME --rate RATE [--policy POLICY]

  --to ADDRESS:PORT      forwards UDP datagrams to there
  --listen ADDRESS:PORT  where they come from; default 127.0.0.1:9000
  --tun NAME             forwards the IP packets that are routed to this TUN device; what comes to
                         the other one goes back through no bottleneck (Linux, as root)
  --out NAME             the TUN device at the other end
  --rate RATE            rate of the bottleneck, headers of IP and UDP included, such as 10Mb/s
  --policy POLICY        a discipline such as fifo, fq-codel (the default), drr, wfq, or JSON:
                         '{\"fq-codel\": {\"target\": \"10 ms\"}}', or a file NAME.json that holds it";

/// Packets that have been read, but not yet been put into the bottleneck, at most.
const AHEAD: usize = 256;

/// A packet as it comes, or why none comes any more.
type Arrival = io::Result<(Header, Vec<u8>)>;

/// Between which ends to forward.
enum Ends {
    Udp { listen: SocketAddr, to: SocketAddr },
    Tun { from: String, out: String },
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<(Ends, Bottleneck), String> {
    let (mut listen, mut to, mut rate) = (None, None, None);
    let (mut tun, mut out) = (None, None);
    let mut policy = "fq-codel".to_owned();
    while let Some(key) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{key} needs a value"))?;
        match key.as_str() {
            "--listen" => listen = Some(value),
            "--to" => to = Some(value),
            "--tun" => tun = Some(value),
            "--out" => out = Some(value),
            "--rate" => rate = Some(value),
            "--policy" => policy = value,
            _ => return Err(format!("`{key}` is not an option")),
        }
    }
    let address = |key: &str, text: String| {
        let wrong =
            |_| format!("{key}: `{text}` is not an address with a port, such as 127.0.0.1:9000");
        text.parse::<SocketAddr>().map_err(wrong)
    };
    let ends = match (tun, out, to, listen) {
        (Some(from), Some(out), None, None) => Ends::Tun { from, out },
        (None, None, Some(to), listen) => {
            let listen = listen.unwrap_or_else(|| "127.0.0.1:9000".to_owned());
            let (listen, to) = (address("--listen", listen)?, address("--to", to)?);
            if listen.is_ipv4() != to.is_ipv4() {
                return Err(format!(
                    "--listen {listen} and --to {to} are of two IP versions"
                ));
            }
            Ends::Udp { listen, to }
        }
        (Some(_), None, None, None) => return Err("--out is missing".to_owned()),
        (None, Some(_), None, None) => return Err("--tun is missing".to_owned()),
        (None, None, None, _) => return Err("--to, or --tun and --out, is missing".to_owned()),
        _ => return Err("--to and --listen do not go with --tun and --out".to_owned()),
    };
    let rate = rate.ok_or("--rate is missing")?;
    let rate = parse_rate(&rate).map_err(|e| format!("--rate: {e}"))?;
    Ok((ends, Bottleneck::new(&policy, rate)?))
}

/// Lets what comes through the bottleneck and sends it, until something fails; a report a second.
fn shape(
    mut b: Bottleneck,
    arrivals: &Receiver<Arrival>,
    mut send: impl FnMut(Ecn, Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    #[allow(clippy::disallowed_methods, reason = "this is no simulation")]
    let begun = Instant::now();
    let clock = || Time::ZERO + Dur::from_ns(begun.elapsed().as_nanos() as u64);
    let mut report = Time::ZERO + Dur::from_secs(1);
    loop {
        while let Some((ecn, bytes)) = b.take(clock()) {
            send(ecn, bytes)?;
        }
        let now = clock();
        if now >= report {
            let ((packets, bytes), (lost, sent)) = (b.backlog(), b.counts);
            eprintln!("{sent} sent, {lost} dropped; {packets} packets ({bytes} B) wait");
            report = now + Dur::from_secs(1);
        }
        let until = b.wake().map_or(report, |at| at.min(report)).since(now);
        match arrivals.recv_timeout(Duration::from_nanos(until.as_ps() / 1000)) {
            Ok(arrival) => {
                let (header, bytes) = arrival?;
                b.put(clock(), &header, bytes);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// Reads in a thread of its own until that fails. What is no packet to forward is left out.
fn read_ahead(
    mut read: impl FnMut() -> io::Result<Option<(Header, Vec<u8>)>> + Send + 'static,
) -> Receiver<Arrival> {
    let (to, arrivals) = sync_channel(AHEAD);
    std::thread::spawn(move || {
        loop {
            let Some(arrival) = read().transpose() else {
                continue;
            };
            let failed = arrival.is_err();
            if to.send(arrival).is_err() || failed {
                return;
            }
        }
    });
    arrivals
}

fn forward_datagrams(listen: SocketAddr, to: SocketAddr, b: Bottleneck) -> io::Result<()> {
    let socket = Arc::new(UdpSocket::bind(listen)?);
    eprintln!("forwarding {} to {to}", socket.local_addr()?);
    // Nobody listens over there: perhaps not yet.
    let nobody = |e: &io::Error| e.kind() == io::ErrorKind::ConnectionRefused;
    let from = Arc::clone(&socket);
    let mut buffer = vec![0; 65_536];
    let arrivals = read_ahead(move || match from.recv_from(&mut buffer) {
        Ok((n, from)) => {
            let header = Header::of_datagram(from, to, n);
            Ok(Some((header, buffer[..n].to_vec())))
        }
        Err(e) if nobody(&e) => Ok(None),
        Err(e) => Err(e),
    });
    shape(b, &arrivals, |_, payload| {
        match socket.send_to(&payload, to) {
            Err(e) if !nobody(&e) => Err(e),
            _ => Ok(()),
        }
    })
}

#[cfg(not(target_os = "linux"))]
mod tun {
    /// There is none here.
    pub(crate) fn forward(_: &str, _: &str, _: crate::Bottleneck) -> std::io::Result<()> {
        Err(std::io::Error::other("TUN devices work on Linux only"))
    }
}

fn main() -> ExitCode {
    if std::env::args().any(|a| a == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let (ends, bottleneck) = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("error: {why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let ended = match &ends {
        Ends::Udp { listen, to } => {
            forward_datagrams(*listen, *to, bottleneck).map_err(|e| format!("{listen}: {e}"))
        }
        Ends::Tun { from, out } => {
            tun::forward(from, out, bottleneck).map_err(|e| format!("{from}, {out}: {e}"))
        }
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::from(2)
        }
    }
}
