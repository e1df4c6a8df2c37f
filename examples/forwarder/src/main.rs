//! Forwards UDP datagrams through a bottleneck of a given rate.

use std::io::ErrorKind;
use std::net::{SocketAddrV4, UdpSocket};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use spillgate_core::units::parse_rate;
use spillgate_core::{Dur, Time};
use spillgate_forwarder::Bottleneck;

const USAGE: &str = "usage: spillgate-forwarder --to ADDRESS:PORT --rate RATE [--listen ADDRESS:PORT] [--policy POLICY]

  --to ADDRESS:PORT      where datagrams go
  --rate RATE            rate of the bottleneck, headers of IP and UDP included, such as 10Mb/s
  --listen ADDRESS:PORT  where they come from; default 127.0.0.1:9000
  --policy POLICY        a discipline such as fifo, fq-codel (the default), drr, wfq, or JSON:
                         '{\"fq-codel\": {\"target\": \"10 ms\"}}'";

/// What the command line says.
struct Options {
    listen: SocketAddrV4,
    to: SocketAddrV4,
    bottleneck: Bottleneck,
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let (mut listen, mut to, mut rate) = ("127.0.0.1:9000".to_owned(), None, None);
    let mut policy = "fq-codel".to_owned();
    while let Some(key) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{key} needs a value"))?;
        match key.as_str() {
            "--listen" => listen = value,
            "--to" => to = Some(value),
            "--rate" => rate = Some(value),
            "--policy" => policy = value,
            _ => return Err(format!("`{key}` is no option")),
        }
    }
    let address = |key: &str, text: String| {
        let wrong =
            |_| format!("{key}: `{text}` is no IPv4 address with a port, such as 127.0.0.1:9000");
        text.parse::<SocketAddrV4>().map_err(wrong)
    };
    let rate = rate.ok_or("--rate is missing")?;
    let rate = parse_rate(&rate).map_err(|e| format!("--rate: {e}"))?;
    Ok(Options {
        listen: address("--listen", listen)?,
        to: address("--to", to.ok_or("--to is missing")?)?,
        bottleneck: Bottleneck::new(&policy, rate)?,
    })
}

fn forward(options: Options) -> std::io::Result<()> {
    let Options {
        listen,
        to,
        bottleneck: mut b,
    } = options;
    let socket = UdpSocket::bind(listen)?;
    eprintln!("forwarding {} to {to}", socket.local_addr()?);
    #[allow(clippy::disallowed_methods, reason = "this is no simulation")]
    let begun = Instant::now();
    let clock = || Time::ZERO + Dur::from_ns(begun.elapsed().as_nanos() as u64);
    let mut buffer = vec![0; 65_536];
    let mut report = Time::ZERO + Dur::from_secs(1);
    loop {
        while let Some(payload) = b.take(clock()) {
            socket.send_to(&payload, to)?;
        }
        let now = clock();
        if now >= report {
            let ((packets, bytes), (lost, sent)) = (b.backlog(), b.counts);
            eprintln!("{sent} sent, {lost} dropped; {packets} packets ({bytes} B) wait");
            report = now + Dur::from_secs(1);
        }
        let until = b.wake().map_or(report, |at| at.min(report)).since(now);
        let patience = Duration::from_nanos(until.as_ps() / 1000).max(Duration::from_micros(50));
        socket.set_read_timeout(Some(patience))?;
        match socket.recv_from(&mut buffer) {
            Ok((n, std::net::SocketAddr::V4(from))) => {
                b.put(clock(), from, to, buffer[..n].to_vec());
            }
            Ok(_) => {}
            Err(e)
                if matches!(
                    e.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) => {}
            // Nobody listens over there: perhaps not yet.
            Err(e) if e.kind() == ErrorKind::ConnectionRefused => {}
            Err(e) => return Err(e),
        }
    }
}

fn main() -> ExitCode {
    if std::env::args().any(|a| a == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("error: {why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let listen = options.listen;
    match forward(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {listen}: {e}");
            ExitCode::from(2)
        }
    }
}
