//! The program itself, between sockets of this machine.
#![allow(
    clippy::disallowed_methods,
    reason = "time is that of the machine here"
)]

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_spillgate-forwarder");

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts it; where it listens.
fn start(to: SocketAddr, policy: &str) -> (Running, SocketAddr) {
    let mut child = Command::new(PROGRAM)
        .args(["--listen", "127.0.0.1:0", "--rate", "8Mb/s"])
        .args(["--to", &to.to_string(), "--policy", policy])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    // Its reports go on somewhere.
    std::thread::spawn(move || said.lines().for_each(drop));
    let address = line.split(' ').nth(1).unwrap().parse().unwrap();
    (Running(child), address)
}

/// What came through in a second.
struct Through {
    /// Bytes of the first second, headers included.
    bytes: usize,
    /// How much of what was sent was sent in time: on a busy machine the sender itself is late.
    in_time: f64,
    /// Median delays of the bulk and of the sparse flow: some packets are late on a busy machine.
    bulk: Duration,
    sparse: Duration,
}

/// Sends 1,000 B packets at 16 Mb/s and one of 100 B every 10 ms from another port, for a second.
fn through(policy: &str) -> Through {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver
        .set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let (_running, address) = start(receiver.local_addr().unwrap(), policy);
    let begun = Instant::now();
    let sender = std::thread::spawn(move || {
        let bulk = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sparse = UdpSocket::bind("127.0.0.1:0").unwrap();
        let stamp = |kind: u8, len: usize| {
            let mut payload = vec![kind; len];
            payload[1..9].copy_from_slice(&(begun.elapsed().as_nanos() as u64).to_le_bytes());
            payload
        };
        let mut in_time = 0;
        for tick in 0_u32..1000 {
            let due = Duration::from_millis(u64::from(tick));
            std::thread::sleep(due.saturating_sub(begun.elapsed()));
            in_time += u32::from(begun.elapsed() < due + Duration::from_millis(20));
            for _ in 0..2 {
                bulk.send_to(&stamp(0, 972), address).unwrap();
            }
            if tick % 10 == 0 {
                sparse.send_to(&stamp(1, 72), address).unwrap();
            }
        }
        f64::from(in_time) / 1000.0
    });
    let (mut bytes, mut delays) = (0, [Vec::new(), Vec::new()]);
    let mut buffer = [0; 2000];
    loop {
        match receiver.recv(&mut buffer) {
            Ok(n) => {
                let now = begun.elapsed();
                if now < Duration::from_secs(1) {
                    bytes += n + 28;
                }
                let sent = u64::from_le_bytes(buffer[1..9].try_into().unwrap());
                let delay = now.saturating_sub(Duration::from_nanos(sent));
                delays[usize::from(buffer[0])].push(delay);
            }
            // Silence is the end only when nothing more is sent.
            Err(_) if sender.is_finished() => break,
            Err(_) => {}
        }
    }
    let in_time = sender.join().unwrap();
    let [bulk, sparse] = delays.map(|mut all| {
        all.sort();
        let median = all.get(all.len() / 2);
        *median.expect("something of each flow comes through")
    });
    Through {
        bytes,
        in_time,
        bulk,
        sparse,
    }
}

/// The first of some tries in which the machine had time for the sender: nothing can be said of the
/// others.
fn undisturbed(policy: &str) -> Option<Through> {
    (0..5).map(|_| through(policy)).find(|t| t.in_time > 0.95)
}

#[test]
fn real_traffic_gets_its_rate_and_fair_queueing_keeps_a_sparse_flow_fast() {
    let (Some(fair), Some(fifo)) = (undisturbed("fq-codel"), undisturbed("fifo")) else {
        println!("SKIPPED: the machine is too busy to send in time");
        return;
    };
    // A megabyte in a second, and never more than a packet beyond: what is late on a busy machine
    // can only be less. Half of it would be lost to more than bad luck.
    let bytes = fair.bytes;
    assert!(bytes <= 1_002_000, "{bytes} B in a second of 8 Mb/s");
    assert!(bytes >= 500_000, "{bytes} B in a second of 8 Mb/s");
    // Twice the rate for a second fills the queue for longer than the sparse flow ever waits.
    assert!(fair.sparse < fair.bulk, "{:?} {:?}", fair.sparse, fair.bulk);
    // Behind one queue both wait alike.
    assert!(
        fair.sparse < fifo.sparse,
        "{:?} {:?}",
        fair.sparse,
        fifo.sparse
    );
}

#[test]
fn mistakes_are_explained() {
    for (arguments, wanted) in [
        (
            vec!["--rate", "8Mb/s"],
            "--to, or --tun and --out, is missing",
        ),
        (vec!["--tun", "a", "--rate", "8Mb/s"], "--out is missing"),
        (vec!["--out", "a", "--rate", "8Mb/s"], "--tun is missing"),
        (
            vec!["--tun", "a", "--out", "b", "--to", "127.0.0.1:9"],
            "--to and --listen do not go with --tun and --out",
        ),
        (
            vec![
                "--to",
                "127.0.0.1:9",
                "--rate",
                "8Mb/s",
                "--policy",
                "no.json",
            ],
            "no.json",
        ),
        (
            vec![
                "--tun",
                "a-name-that-is-too-long",
                "--out",
                "b",
                "--rate",
                "8Mb/s",
            ],
            "a-name-that-is-too-long",
        ),
        (vec!["--to", "127.0.0.1:9"], "--rate is missing"),
        (
            vec!["--to", "here", "--rate", "8Mb/s"],
            "`here` is not an address with a port",
        ),
        (
            vec!["--to", "127.0.0.1:9", "--rate", "8"],
            "the unit is missing",
        ),
        (
            vec!["--to", "127.0.0.1:9", "--rate", "8Mb/s", "--policy", "red"],
            "unknown variant `red`",
        ),
        (
            vec!["--to", "[::1]:9", "--rate", "8Mb/s"],
            "--listen 127.0.0.1:9000 and --to [::1]:9 are of two IP versions",
        ),
        (vec!["--speed", "1"], "`--speed` is not an option"),
        (vec!["--to"], "--to needs a value"),
        (
            vec![
                "--to",
                "127.0.0.1:9",
                "--rate",
                "8Mb/s",
                "--listen",
                "192.0.2.1:9",
            ],
            "192.0.2.1:9",
        ),
    ] {
        let done = Command::new(PROGRAM).args(&arguments).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(wanted), "{arguments:?}: {said}");
    }
}
