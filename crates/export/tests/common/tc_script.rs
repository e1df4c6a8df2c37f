//! A small strict reader of the `tc` commands that are written: what it does not know is a failure.

use std::collections::BTreeMap;

use spillgate_core::{Dscp, FlowKey};

/// A class of `htb`.
#[derive(Debug)]
pub(crate) struct Htb {
    pub(crate) parent: u16,
    pub(crate) minor: u16,
    pub(crate) rate: u64,
    pub(crate) ceil: u64,
    pub(crate) prio: u8,
}

/// A filter and the class that it leads to.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    pub(crate) prio: u32,
    pub(crate) protocol: Option<u8>,
    pub(crate) src: Option<(u32, u32)>,
    pub(crate) dst: Option<(u32, u32)>,
    pub(crate) sport: Option<(u16, u16)>,
    pub(crate) dport: Option<(u16, u16)>,
    pub(crate) tos: Option<(u8, u8)>,
    /// Values and masks of `u32` at offsets, the mask's width in bytes last.
    pub(crate) words: Vec<(u32, u32, usize, usize)>,
    pub(crate) class: u16,
    /// DSCP that it sets at last, and policers that it passes.
    pub(crate) marks: Vec<u8>,
    pub(crate) policers: Vec<u32>,
}

impl Filter {
    pub(crate) fn takes(&self, key: &FlowKey, dscp: Dscp) -> bool {
        let within = |r: Option<(u16, u16)>, p: u16| r.is_none_or(|(a, b)| (a..=b).contains(&p));
        let net = |n: Option<(u32, u32)>, a: std::net::Ipv4Addr| {
            n.is_none_or(|(addr, mask)| u32::from(a) & mask == addr)
        };
        let [src, dst] = key.ipv4().unwrap();
        self.words_take(key, dscp)
            && self.protocol.is_none_or(|p| p == key.protocol)
            && net(self.src, src)
            && net(self.dst, dst)
            && within(self.sport, key.sport)
            && within(self.dport, key.dport)
            && self.tos.is_none_or(|(v, m)| (dscp.value() << 2) & m == v)
    }
}

impl Filter {
    /// Compares the words of a header of 20 B as the kernel does.
    fn words_take(&self, key: &FlowKey, dscp: Dscp) -> bool {
        let [src, dst] = key.ipv4().unwrap();
        let mut header = [0_u8; 24];
        header[0] = 0x45;
        header[1] = dscp.value() << 2;
        header[9] = key.protocol;
        header[12..16].copy_from_slice(&src.octets());
        header[16..20].copy_from_slice(&dst.octets());
        header[20..22].copy_from_slice(&key.sport.to_be_bytes());
        header[22..24].copy_from_slice(&key.dport.to_be_bytes());
        self.words.iter().all(|&(value, mask, at, width)| {
            let word = header[at..at + width]
                .iter()
                .fold(0, |w, b| w << 8 | u32::from(*b));
            word & mask == value
        })
    }
}

/// What a script says; filters in the order in which they are tried.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) root: String,
    pub(crate) default: u16,
    /// Strict bands, quanta of the others, and where packets go that no filter takes.
    pub(crate) bands: Option<(usize, Vec<u64>, usize)>,
    pub(crate) classes: Vec<Htb>,
    /// Queueing discipline of each leaf, by the minor number of its class.
    pub(crate) leaves: Vec<(u16, String)>,
    pub(crate) filters: Vec<Filter>,
    /// Bytes beside what the kernel counts of each packet, and the least that one counts.
    pub(crate) overhead: i32,
    pub(crate) min: u16,
    /// Whether it counts in cells.
    pub(crate) atm: bool,
    /// Rate and burst of policers, and what they do.
    pub(crate) policers: BTreeMap<u32, (u64, u64, String)>,
}

struct Words<'t>(std::iter::Peekable<std::str::SplitWhitespace<'t>>, &'t str);

impl<'t> Words<'t> {
    fn next(&mut self) -> &'t str {
        self.0
            .next()
            .unwrap_or_else(|| panic!("too short: {}", self.1))
    }
    fn expect(&mut self, words: &str) {
        for w in words.split_whitespace() {
            assert_eq!(self.next(), w, "{}", self.1);
        }
    }
    fn take(&mut self, word: &str) -> bool {
        self.0.next_if_eq(&word).is_some()
    }
    fn end(&mut self) {
        assert_eq!(self.0.next(), None, "{}", self.1);
    }
    fn rate(&mut self) -> u64 {
        let w = self.next();
        w.strip_suffix("bit")
            .and_then(|n| n.parse().ok())
            .unwrap_or_else(|| panic!("{w}: {}", self.1))
    }
    /// `b` is bytes in the sizes of `tc`.
    fn size(&mut self) -> u64 {
        let w = self.next();
        w.strip_suffix('b')
            .and_then(|n| n.parse().ok())
            .unwrap_or_else(|| panic!("{w}: {}", self.1))
    }
    /// Those of RED, which has this limit.
    fn thresholds(&mut self, limit: u64) {
        self.expect("min");
        let min = self.size();
        self.expect("max");
        let max = self.size();
        assert!(min < max && max < limit, "{}", self.1);
        self.expect("avpkt");
        let avpkt = self.size();
        self.expect("burst");
        let burst: u64 = self.number();
        assert!(burst > min / avpkt, "{}", self.1);
        self.expect("probability");
        assert!((0.0..=1.0).contains(&self.number::<f64>()));
    }
    fn number<T: std::str::FromStr>(&mut self) -> T {
        let w = self.next();
        w.parse().unwrap_or_else(|_| panic!("{w}: {}", self.1))
    }
    fn minor(&mut self) -> u16 {
        let w = self.next();
        let n = w
            .strip_prefix("1:")
            .filter(|n| !n.is_empty())
            .unwrap_or_else(|| panic!("{w}: {}", self.1));
        u16::from_str_radix(n, 16).unwrap()
    }
    fn hex(&mut self) -> Vec<u8> {
        let w = self.next();
        w.split('/')
            .map(|h| u8::from_str_radix(h.strip_prefix("0x").unwrap(), 16).unwrap())
            .collect()
    }
    fn ports(&mut self) -> (u16, u16) {
        let w = self.next();
        let (a, b) = w.split_once('-').unwrap_or((w, w));
        (a.parse().unwrap(), b.parse().unwrap())
    }
    fn net(&mut self) -> (u32, u32) {
        let w = self.next();
        let (a, n) = w.split_once('/').unwrap();
        let n: u32 = n.parse().unwrap();
        assert!((1..=32).contains(&n), "{}", self.1);
        let mask = u32::MAX << (32 - n);
        let addr = u32::from(a.parse::<std::net::Ipv4Addr>().unwrap());
        assert_eq!(addr & !mask, 0, "{}", self.1);
        (addr, mask)
    }
    /// The bands of `ets` or `prio`; none of anything else.
    fn bands(&mut self) -> Option<(usize, Vec<u64>, usize)> {
        let ets = self.take("ets");
        if !ets && !self.take("prio") {
            return None;
        }
        self.expect("bands");
        let bands: usize = self.number();
        assert!(
            (1..=16).contains(&bands) && (ets || bands >= 2),
            "{}",
            self.1
        );
        let strict = if ets && self.take("strict") {
            self.number()
        } else {
            0
        };
        let strict = if ets { strict } else { bands };
        let mut quanta = Vec::new();
        if ets && self.take("quanta") {
            while !self.take("priomap") {
                quanta.push(self.number());
            }
        } else {
            self.expect("priomap");
        }
        assert_eq!(strict + quanta.len(), bands, "{}", self.1);
        assert!(quanta.iter().all(|q| *q >= 1514), "{}", self.1);
        let priomap: Vec<usize> = (0..16).map(|_| self.number()).collect();
        assert!(
            priomap.iter().all(|b| *b == priomap[0] && *b < bands),
            "{}",
            self.1
        );
        self.end();
        Some((strict, quanta, priomap[0]))
    }
    /// What follows `match` of a filter of `u32`.
    fn word(&mut self, f: &mut Filter) {
        let hex = |w: &str| {
            u32::from_str_radix(
                w.strip_prefix("0x").unwrap_or(w),
                if w.starts_with("0x") { 16 } else { 10 },
            )
        };
        match self.next() {
            "ip" => match self.next() {
                "protocol" => {
                    f.protocol = Some(self.number());
                    self.expect("0xff");
                }
                "tos" => {
                    let (value, mask) = (self.hex()[0], self.hex()[0]);
                    f.tos = Some((value, mask));
                }
                "src" => f.src = Some(self.net()),
                "dst" => f.dst = Some(self.net()),
                other => panic!("{other}: {}", self.1),
            },
            kind @ ("u8" | "u16" | "u32") => {
                let width = kind[1..].parse::<usize>().unwrap() / 8;
                let value = hex(self.next()).unwrap();
                let mask = hex(self.next()).unwrap();
                assert_eq!(value & !mask, 0, "{}", self.1);
                let at = if self.take("at") { self.number() } else { 0 };
                f.words.push((value, mask, at, width));
            }
            other => panic!("{other}: {}", self.1),
        }
    }
    /// The arguments of `pie`, in the ranges that the kernel takes.
    fn pie(&mut self) {
        self.expect("limit");
        assert!(self.number::<u32>() > 0);
        for word in ["target", "tupdate"] {
            self.expect(word);
            assert!(self.next().ends_with("us"));
        }
        for word in ["alpha", "beta"] {
            self.expect(word);
            assert!(self.number::<u32>() <= 32);
        }
        self.take("ecn");
        self.take("dq_rate_estimator");
    }
    /// The arguments of `fq_pie`, in the ranges that the kernel takes.
    fn fq_pie(&mut self) {
        self.expect("limit");
        assert!(self.number::<u32>() > 0);
        self.expect("flows");
        assert!((1..=65_536).contains(&self.number::<u32>()));
        for word in ["target", "tupdate"] {
            self.expect(word);
            assert!(self.next().ends_with("us"));
        }
        for word in ["alpha", "beta"] {
            self.expect(word);
            assert!(self.number::<u32>() <= 32);
        }
        self.expect("quantum");
        assert!(self.number::<u32>() >= 64);
        self.expect("ecn_prob");
        assert!(self.number::<u32>() <= 100);
        assert!(matches!(self.next(), "ecn" | "noecn"), "{}", self.1);
        assert!(matches!(
            self.next(),
            "dq_rate_estimator" | "no_dq_rate_estimator"
        ));
    }
    /// The arguments of `dualpi2`, in the ranges that the kernel takes.
    fn dualpi2(&mut self) {
        self.expect("limit");
        assert!(self.number::<u32>() > 0);
        self.expect("coupling_factor");
        assert!(self.number::<u8>() > 0);
        self.expect("step_thresh");
        assert!(self.next().ends_with("us"));
        self.expect("min_qlen_step");
        self.number::<u32>();
        assert!(matches!(self.next(), "drop_on_overload" | "overflow"));
        self.expect("classic_protection");
        assert!((1..=99).contains(&self.number::<u8>()));
        for word in ["target", "tupdate"] {
            self.expect(word);
            assert!(self.next().ends_with("us"));
        }
        for word in ["alpha", "beta"] {
            self.expect(word);
            // In 256ths, as eight bits before the point.
            assert!((0.0..256.0).contains(&self.number::<f64>()));
        }
    }
    /// The arguments of `cake`.
    fn cake(&mut self) {
        if !self.take("unlimited") {
            self.expect("bandwidth");
            assert!(self.rate() > 0);
        }
        let tins = [
            "besteffort",
            "precedence",
            "diffserv3",
            "diffserv4",
            "diffserv8",
        ];
        assert!(tins.contains(&self.next()), "{}", self.1);
        self.next();
        assert!(matches!(self.next(), "nat" | "nonat"));
        assert!(matches!(self.next(), "ingress" | "egress"));
        let filters = ["no-ack-filter", "ack-filter", "ack-filter-aggressive"];
        assert!(filters.contains(&self.next()), "{}", self.1);
        self.expect("rtt");
        assert!(self.next().ends_with("us"));
        if !self.take("raw") {
            self.expect("overhead");
            assert!((-64..=256).contains(&self.number::<i16>()), "{}", self.1);
            self.expect("mpu");
            assert!(self.number::<u16>() <= 256);
            assert!(matches!(self.next(), "noatm" | "atm" | "ptm"));
        }
        if self.take("memlimit") {
            assert!(self.size() <= u64::from(u32::MAX));
        }
    }
    /// Kind and arguments of a queueing discipline, checked.
    fn qdisc(&mut self) -> String {
        let start: Vec<&str> = self.0.clone().collect();
        match self.next() {
            "pfifo" => {
                self.expect("limit");
                assert!(self.number::<u32>() > 0);
            }
            "bfifo" => {
                self.expect("limit");
                assert!(self.size() > 0);
            }
            "sfq" => {
                self.expect("limit");
                assert!(self.number::<u32>() > 1, "{}", self.1);
                if self.take("quantum") {
                    assert!(self.number::<u32>() >= 64);
                }
                self.expect("depth");
                assert!((1..=127).contains(&self.number::<u32>()));
                self.expect("flows");
                assert!((1..=65_536).contains(&self.number::<u32>()));
                self.expect("divisor");
                // Linux takes no more than 65536 and a power of two.
                let divisor = self.number::<u32>();
                assert!(divisor.is_power_of_two() && divisor <= 65_536, "{}", self.1);
                if self.take("perturb") {
                    assert!(self.number::<u32>() > 0);
                }
                self.take("headdrop");
                if self.take("redflowlimit") {
                    let limit = self.size();
                    self.thresholds(limit);
                    if self.take("ecn") {
                        self.take("harddrop");
                    }
                }
            }
            "red" => {
                self.expect("limit");
                let limit = self.size();
                self.thresholds(limit);
                self.expect("bandwidth");
                self.rate();
                if self.take("ecn") {
                    self.expect("harddrop");
                }
            }
            kind @ ("codel" | "fq_codel") => {
                self.expect("limit");
                assert!(self.number::<u32>() > 0);
                if kind == "fq_codel" {
                    self.expect("flows");
                    assert!((1..=65_536).contains(&self.number::<u32>()));
                    self.expect("quantum");
                    assert!(self.number::<u32>() >= 64);
                }
                let mut micros = |word: &str| {
                    self.expect(word);
                    let us = self.next().strip_suffix("us").map(str::parse::<u64>);
                    us.unwrap_or_else(|| panic!("{}", self.1)).unwrap()
                };
                let target = micros("target");
                assert!((1..=micros("interval")).contains(&target), "{}", self.1);
                if self.take("ce_threshold") {
                    assert!(self.next().ends_with("us"));
                }
                if kind == "fq_codel" {
                    self.expect("memory_limit");
                    assert!(self.size() > 0);
                    self.expect("drop_batch");
                    assert!(self.number::<u32>() > 0);
                }
                assert!(matches!(self.next(), "ecn" | "noecn"), "{}", self.1);
            }
            "dualpi2" => self.dualpi2(),
            "cake" => self.cake(),
            "pie" => self.pie(),
            "fq_pie" => self.fq_pie(),
            other => panic!("{other}: {}", self.1),
        }
        self.end();
        start.join(" ")
    }
}

/// Reads a script of one device, and refuses what is no command that it knows.
pub(crate) fn read(text: &str, device: &str) -> Script {
    let mut script = Script::default();
    let mut handles = std::collections::BTreeSet::new();
    for line in text
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        let mut w = Words(line.split_whitespace().peekable(), line);
        if line == "set -e" || line == format!("tc qdisc del dev {device} root 2>/dev/null || true")
        {
            continue;
        }
        w.expect("tc");
        match w.next() {
            "qdisc" => {
                w.expect("add dev");
                w.expect(device);
                if w.take("root") {
                    w.expect("handle 1:");
                    if w.take("stab") {
                        w.expect("overhead");
                        script.overhead = w.number();
                        if w.take("mpu") {
                            script.min = w.number();
                        }
                        if w.take("mtu") {
                            script.atm = w.number::<u32>() == 32_767;
                            w.expect("tsize 2048");
                            if script.atm {
                                w.expect("linklayer atm");
                            }
                        }
                    }
                    if w.take("htb") {
                        w.expect("default");
                        script.default = u16::from_str_radix(w.next(), 16).unwrap();
                        "htb".clone_into(&mut script.root);
                        w.end();
                    } else {
                        script.bands = w.bands();
                        script.root = match script.bands {
                            Some((.., default)) => {
                                script.default = default as u16 + 1;
                                "bands".to_owned()
                            }
                            None => w.qdisc(),
                        };
                    }
                } else {
                    w.expect("parent");
                    let parent = w.minor();
                    w.expect("handle");
                    assert!(handles.insert(w.next().to_owned()), "{line}");
                    let qdisc = w.qdisc();
                    let of_bands = script.bands.is_some();
                    let known = script.classes.iter().any(|c| c.minor == parent);
                    assert!(known || of_bands, "{line}");
                    script.leaves.push((parent, qdisc));
                }
            }
            "class" => {
                w.expect("add dev");
                w.expect(device);
                w.expect("parent");
                let parent = if w.take("1:") { 0 } else { w.minor() };
                w.expect("classid");
                let minor = w.minor();
                w.expect("htb rate");
                let rate = w.rate();
                w.expect("ceil");
                let ceil = w.rate();
                let prio = if w.take("prio") { w.number() } else { 0 };
                w.expect("quantum");
                assert!(w.number::<u32>() >= 1514);
                if w.take("cburst") {
                    assert!(w.size() > 0);
                }
                w.end();
                assert!(
                    parent == 0 || script.classes.iter().any(|c| c.minor == parent),
                    "{line}"
                );
                assert!(script.classes.iter().all(|c| c.minor != minor), "{line}");
                script.classes.push(Htb {
                    parent,
                    minor,
                    rate,
                    ceil,
                    prio,
                });
            }
            "actions" => {
                w.expect("replace action police rate");
                let rate = w.rate();
                w.expect("burst");
                let burst = w.size();
                w.expect("mtu");
                w.size();
                w.expect("conform-exceed");
                let control = w.next().to_owned();
                w.expect("index");
                let index = w.number();
                w.end();
                assert!(
                    script
                        .policers
                        .insert(index, (rate, burst, control))
                        .is_none(),
                    "{line}"
                );
            }
            "filter" => script
                .filters
                .push(filter(&mut w, device, &script.policers)),
            other => panic!("{other}: {line}"),
        }
    }
    // Older kernels take one mask only in a priority.
    assert!(script.filters.windows(2).all(|f| f[0].prio < f[1].prio));
    script
}

fn filter(w: &mut Words<'_>, device: &str, policers: &BTreeMap<u32, (u64, u64, String)>) -> Filter {
    let mut f = Filter::default();
    w.expect("add dev");
    w.expect(device);
    w.expect("parent 1: protocol");
    let all = w.take("all");
    if !all {
        w.expect("ip");
    }
    w.expect("prio");
    f.prio = w.number();
    if w.take("matchall") {
        assert!(all);
    } else if w.take("u32") {
        while w.take("match") {
            w.word(&mut f);
        }
        // Nothing but all packets needs no header.
        assert!(!all || f.words == [(0, 0, 0, 4)], "{}", w.1);
        // Ports are there only behind a short header of a first fragment.
        let ports = f.words.iter().any(|w| w.2 >= 20);
        let first = [(5, 15, 0, 1), (0, 0x1fff, 6, 2)];
        assert!(
            !ports || f.protocol.is_some() && first.iter().all(|x| f.words.contains(x)),
            "{}",
            w.1
        );
    } else {
        assert!(!all);
        w.expect("flower");
        loop {
            if w.take("ip_proto") {
                f.protocol = Some(match w.next() {
                    "icmp" => 1,
                    "tcp" => 6,
                    "udp" => 17,
                    "sctp" => 132,
                    n => u8::from_str_radix(n.strip_prefix("0x").unwrap(), 16).unwrap(),
                });
            } else if w.take("src_ip") {
                f.src = Some(w.net());
            } else if w.take("dst_ip") {
                f.dst = Some(w.net());
            } else if w.take("src_port") {
                f.sport = Some(w.ports());
            } else if w.take("dst_port") {
                f.dport = Some(w.ports());
            } else if w.take("ip_tos") {
                let pair = w.hex();
                f.tos = Some((pair[0], pair[1]));
            } else {
                break;
            }
        }
        assert!(
            f.sport.is_none() && f.dport.is_none() || f.protocol.is_some(),
            "{}",
            w.1
        );
    }
    w.expect("classid");
    f.class = w.minor();
    while w.take("action") {
        if w.take("police") {
            w.expect("index");
            let index = w.number();
            assert!(policers.contains_key(&index), "{}", w.1);
            f.policers.push(index);
        } else {
            w.expect("pedit ex munge ip tos set");
            f.marks.push(w.hex()[0] >> 2);
            w.expect("retain 0xfc pipe action csum ip4h pipe");
        }
    }
    w.end();
    f
}
