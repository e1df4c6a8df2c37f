//! The program between two network namespaces, on the traffic of their sockets. Needs Linux, root
//! and `ip`.
#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "time is that of the machine here"
)]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::net::sockopt;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

const PROGRAM: &str = env!("CARGO_BIN_EXE_spillgate-forwarder");

/// Rate of the bottleneck in bits per second.
const BPS: f64 = 4e6;
/// IP packets of the flow that overloads it: one in a millisecond, twice the rate.
const BULK: usize = 1000;
/// IP packets of the flow beside it: one in 10 ms.
const SPARSE: usize = 100;
/// Addresses of the two ends.
const V4: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(10, 9, 0, 1)),
    IpAddr::V4(Ipv4Addr::new(10, 9, 0, 2)),
];
const V6: [IpAddr; 2] = [
    IpAddr::V6(Ipv6Addr::new(0xfd09, 0, 0, 0, 0, 0, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0xfd09, 0, 0, 0, 0, 0, 0, 2)),
];
const RUN: Duration = Duration::from_secs(2);

fn ip(arguments: &str) -> bool {
    let mut command = Command::new("ip");
    command.args(arguments.split(' ')).stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}

/// Two namespaces with the program between them.
struct Net {
    names: [String; 2],
    program: Option<Child>,
}

impl Drop for Net {
    fn drop(&mut self) {
        if let Some(child) = &mut self.program {
            let _ = child.kill();
            let _ = child.wait();
        }
        for name in &self.names {
            ip(&format!("netns del {name}"));
        }
    }
}

impl Net {
    /// None where the machine does not allow it, which is said.
    fn new(tag: &str, policy: &str) -> Option<Self> {
        let id = std::process::id();
        let mut net = Self {
            names: ["a", "b"].map(|end| format!("sg{tag}{end}{id}")),
            program: None,
        };
        if !net.names.iter().all(|n| ip(&format!("netns add {n}"))) {
            // Not by a macro that tests silence.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: no network namespaces here; the forwarder is not tested on TUN devices"
            );
            return None;
        }
        let mut child = Command::new(PROGRAM)
            .args(["--tun", &net.names[0], "--out", &net.names[1]])
            .args(["--rate", "4Mb/s", "--policy", policy])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        net.program = Some(child);
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        if !line.starts_with("forwarding") {
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: no TUN devices here; the forwarder is not tested on them: {line}"
            );
            return None;
        }
        // Its reports go on somewhere.
        std::thread::spawn(move || said.lines().for_each(drop));
        // Each device in the namespace of its own name.
        for (name, host) in net.names.iter().zip([1, 2]) {
            for wanted in [
                format!("link set {name} netns {name}"),
                format!("-n {name} addr add 10.9.0.{host}/30 dev {name}"),
                format!("-n {name} addr add fd09::{host}/64 dev {name} nodad"),
                format!("-n {name} link set {name} up"),
            ] {
                assert!(ip(&wanted), "ip {wanted}");
            }
        }
        Some(net)
    }

    /// Runs `f` in one of the namespaces: sockets stay in that where they were made.
    fn inside<T: Send>(&self, end: usize, f: impl FnOnce() -> T + Send) -> T {
        let place = File::open(format!("/var/run/netns/{}", self.names[end])).unwrap();
        let kind = Some(LinkNameSpaceType::Network);
        std::thread::scope(|threads| {
            let inside = threads.spawn(|| {
                move_into_link_name_space(place.as_fd(), kind).unwrap();
                f()
            });
            inside.join().unwrap()
        })
    }

    fn socket(&self, end: usize, address: IpAddr, port: u16) -> UdpSocket {
        let address = SocketAddr::new(address, port);
        self.inside(end, || UdpSocket::bind(address).unwrap())
    }

    /// What the kernel of the receiving end counts about IP, by name: `InCEPkts`, `InHdrErrors`.
    fn kernel_counts(&self, version6: bool, name: &str) -> u64 {
        if version6 {
            let read = || std::fs::read_to_string("/proc/thread-self/net/snmp6").unwrap();
            let text = self.inside(1, read);
            let mut lines = text.lines().map(str::split_whitespace);
            let found = lines.find_map(|mut words| {
                (words.next()? == format!("Ip6{name}")).then(|| words.next())?
            });
            return found.unwrap().parse().unwrap();
        }
        let read = || {
            ["snmp", "netstat"]
                .map(|f| std::fs::read_to_string(format!("/proc/thread-self/net/{f}")).unwrap())
        };
        for text in self.inside(1, read) {
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.chunks_exact(2) {
                let mut columns = pair[0].split(' ').zip(pair[1].split(' '));
                if let Some((_, value)) = columns.find(|(n, _)| *n == name) {
                    return value.parse().unwrap();
                }
            }
        }
        panic!("the kernel does not count {name}");
    }
}

struct Outcome {
    /// Bytes of IP packets that came within [`RUN`].
    bytes: usize,
    /// Delays of sparse packets that were sent in the second half.
    sparse: Vec<Duration>,
    bulk_received: usize,
    marked: u64,
}

/// Sends both flows for [`RUN`] from one namespace to the other.
fn through(net: &Net, [from, to]: [IpAddr; 2], ecn_capable: bool) -> Outcome {
    let headers = if to.is_ipv6() { 48 } else { 28 };
    let receiver = net.socket(1, to, 9001);
    let to = SocketAddr::new(to, 9001);
    let patience = Some(Duration::from_millis(500));
    receiver.set_read_timeout(patience).unwrap();
    let [bulk, sparse] = [1, 2].map(|port| net.socket(0, from, port));
    if ecn_capable {
        // ECT(0).
        match to.is_ipv6() {
            true => sockopt::set_ipv6_tclass(&bulk, 2).unwrap(),
            false => sockopt::set_ip_tos(&bulk, 2).unwrap(),
        }
    }
    let begun = Instant::now();
    let sender = std::thread::spawn(move || {
        let stamped = |kind: u8, len: usize| {
            let mut payload = vec![kind; len - headers];
            payload[1..9].copy_from_slice(&(begun.elapsed().as_nanos() as u64).to_le_bytes());
            payload
        };
        for tick in 0_u32..RUN.as_millis() as u32 {
            let due = Duration::from_millis(u64::from(tick));
            std::thread::sleep(due.saturating_sub(begun.elapsed()));
            bulk.send_to(&stamped(0, BULK), to).unwrap();
            if tick % 10 == 5 {
                sparse.send_to(&stamped(1, SPARSE), to).unwrap();
            }
        }
    });
    let mut out = Outcome {
        bytes: 0,
        sparse: Vec::new(),
        bulk_received: 0,
        marked: 0,
    };
    let mut buffer = [0; 2000];
    let mut last_from = None;
    while let Ok((n, from)) = receiver.recv_from(&mut buffer) {
        let now = begun.elapsed();
        if now < RUN {
            out.bytes += n + headers;
        }
        let sent = u64::from_le_bytes(buffer[1..9].try_into().unwrap());
        let sent = Duration::from_nanos(sent);
        match buffer[0] {
            0 => out.bulk_received += 1,
            _ if sent > RUN / 2 => out.sparse.push(now.saturating_sub(sent)),
            _ => {}
        }
        last_from = Some(from);
    }
    sender.join().unwrap();
    // Addresses and ports are those of the sender: packets go through as they are.
    assert_eq!(last_from.unwrap().ip(), from);
    out.sparse.sort();
    out.marked = net.kernel_counts(to.is_ipv6(), "InCEPkts");
    // A checksum that is wrong would be one.
    assert_eq!(net.kernel_counts(to.is_ipv6(), "InHdrErrors"), 0);
    out
}

fn median(sorted: &[Duration]) -> Duration {
    sorted[sorted.len() / 2]
}

/// A second's worth of bits, of a packet of so many bytes.
fn on_the_wire(bytes: usize) -> Duration {
    Duration::from_secs_f64(bytes as f64 * 8.0 / BPS)
}

/// Not more than the rate lets through, a packet apart: what is late on a busy machine can only be
/// less. Half of it would be lost to more than bad luck.
fn assert_rate(bytes: usize) {
    let most = (BPS / 8.0 * RUN.as_secs_f64()) as usize;
    assert!(bytes <= most + BULK, "{bytes} B of {most} B");
    assert!(bytes >= most / 2, "{bytes} B of {most} B");
}

#[test]
fn fair_queueing_keeps_a_sparse_flow_fast_and_marks() {
    for (tag, ends) in [("q", V4), ("s", V6)] {
        let Some(net) = Net::new(tag, "fq-codel") else {
            return;
        };
        let out = through(&net, ends, true);
        assert_rate(out.bytes);
        // It waits for the packet on the wire, and one more if it came while that was chosen; the
        // median, since a busy machine wakes late.
        let bound = 2 * on_the_wire(BULK) + on_the_wire(SPARSE);
        let waited = median(&out.sparse);
        assert!(waited <= bound, "{waited:?} {ends:?}");
        // The bulk flow says that it understands marks, so CoDel drops none of it.
        assert!(out.marked > 0, "{ends:?}");
        // Twice the rate has filled no queue of 10,240 packets: nothing else is lost.
        assert_eq!(out.bulk_received, RUN.as_millis() as usize);
        // The other way there is no bottleneck.
        let [heard, answer] = [0, 1].map(|end| net.socket(end, ends[end], 7));
        let patience = Some(Duration::from_secs(2));
        heard.set_read_timeout(patience).unwrap();
        answer.send_to(b"back", (ends[0], 7)).unwrap();
        assert_eq!(heard.recv(&mut [0; 9]).unwrap(), 4);
    }
}

#[test]
fn a_fifo_makes_a_sparse_flow_wait_behind_the_bulk_flow() {
    // 200 ms at 4 Mb/s, and full after 200 ms.
    let Some(net) = Net::new("f", r#"{"fifo": {"limit": "100 kB"}}"#) else {
        return;
    };
    let out = through(&net, V4, false);
    assert_rate(out.bytes);
    assert_eq!(out.marked, 0);
    let full = on_the_wire(100_000);
    // A quarter less if the sender stood still for so long half of the time; a packet on the wire
    // more.
    let most = full + on_the_wire(BULK) + on_the_wire(SPARSE);
    let waited = median(&out.sparse);
    assert!(waited >= full * 3 / 4, "{waited:?} of {full:?}");
    assert!(waited <= most + full / 4, "{waited:?} of {full:?}");
}
