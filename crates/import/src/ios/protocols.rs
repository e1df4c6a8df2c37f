//! Well-known ports and protocol numbers: what `match protocol` and access
//! lists call by name.
//!
//! On a router `match protocol` asks NBAR, which looks into the payload.
//! Simulated packets have none, so a protocol is what the IANA registry of
//! service names and ports (and, for rtp, Cisco's media port range
//! 16384-32767) says of its port; a protocol without a port of its own is
//! listed as not modelled.

use std::str::FromStr;
use std::sync::LazyLock;

use spillgate_queueing::spec::PortRange;

use super::keyword::Keywords;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// A protocol that `match protocol` knows.
#[derive(Debug, PartialEq)]
pub(crate) struct Known {
    /// Its name in IOS.
    pub(crate) name: &'static str,
    /// IP protocols that carry it; none for IP itself.
    pub(crate) carriers: &'static [u8],
    /// Its ports; none if the carrier is all there is.
    pub(crate) ports: &'static [(u16, u16)],
    /// Whether replies, whose *source* port is the well-known one, belong to it.
    pub(crate) both_ways: bool,
}

impl Known {
    /// The ports as the model's type.
    pub(crate) fn ranges(&self) -> Vec<PortRange> {
        self.ports
            .iter()
            .map(|&(first, last)| PortRange { first, last })
            .collect()
    }
}

/// Finds a protocol by name.
pub(crate) fn known(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|k| k.name.eq_ignore_ascii_case(name))
}

/// Every protocol that is known.
pub(crate) const fn known_protocols() -> &'static [Known] {
    KNOWN
}

const fn carrier(name: &'static str, carriers: &'static [u8]) -> Known {
    Known {
        name,
        carriers,
        ports: &[],
        both_ways: false,
    }
}

const fn service(
    name: &'static str,
    carriers: &'static [u8],
    ports: &'static [(u16, u16)],
) -> Known {
    Known {
        name,
        carriers,
        ports,
        both_ways: true,
    }
}

const KNOWN: &[Known] = &[
    carrier("ip", &[]),
    carrier("icmp", &[1]),
    carrier("igmp", &[2]),
    carrier("ipinip", &[4]),
    carrier("tcp", &[TCP]),
    carrier("egp", &[8]),
    carrier("udp", &[UDP]),
    carrier("gre", &[47]),
    carrier("ipsec", &[50, 51]),
    carrier("eigrp", &[88]),
    carrier("ospf", &[89]),
    carrier("pim", &[103]),
    carrier("sctp", &[132]),
    Known {
        name: "rtp",
        carriers: &[UDP],
        ports: &[(16384, 32767)],
        both_ways: false,
    },
    service("bgp", &[TCP], &[(179, 179)]),
    service("citrix", &[TCP], &[(1494, 1494), (2598, 2598)]),
    service("dhcp", &[UDP], &[(67, 68)]),
    service("dns", &[TCP, UDP], &[(53, 53)]),
    service("finger", &[TCP], &[(79, 79)]),
    service("ftp", &[TCP], &[(20, 21)]),
    service("gopher", &[TCP, UDP], &[(70, 70)]),
    service("h323", &[TCP], &[(1718, 1720)]),
    service("http", &[TCP], &[(80, 80)]),
    service("https", &[TCP], &[(443, 443)]),
    service("imap", &[TCP, UDP], &[(143, 143), (220, 220)]),
    service("irc", &[TCP, UDP], &[(194, 194)]),
    service("kerberos", &[TCP, UDP], &[(88, 88), (749, 749)]),
    service("l2tp", &[UDP], &[(1701, 1701)]),
    service("ldap", &[TCP, UDP], &[(389, 389)]),
    service("mgcp", &[UDP], &[(2427, 2427), (2727, 2727)]),
    service("netbios", &[TCP, UDP], &[(137, 139)]),
    service("nfs", &[TCP, UDP], &[(2049, 2049)]),
    service("nntp", &[TCP, UDP], &[(119, 119)]),
    service("notes", &[TCP, UDP], &[(1352, 1352)]),
    service("ntp", &[TCP, UDP], &[(123, 123)]),
    service("pop3", &[TCP, UDP], &[(110, 110)]),
    service("pptp", &[TCP], &[(1723, 1723)]),
    service("printer", &[TCP, UDP], &[(515, 515)]),
    service("radius", &[UDP], &[(1645, 1646), (1812, 1813)]),
    service("rdp", &[TCP, UDP], &[(3389, 3389)]),
    service("rip", &[UDP], &[(520, 520)]),
    service("rtsp", &[TCP, UDP], &[(554, 554)]),
    service("secure-ftp", &[TCP], &[(990, 990)]),
    service("secure-http", &[TCP], &[(443, 443)]),
    service("secure-imap", &[TCP, UDP], &[(993, 993)]),
    service("secure-ldap", &[TCP, UDP], &[(636, 636)]),
    service("secure-nntp", &[TCP, UDP], &[(563, 563)]),
    service("secure-pop3", &[TCP, UDP], &[(995, 995)]),
    service("secure-telnet", &[TCP], &[(992, 992)]),
    service("sip", &[TCP, UDP], &[(5060, 5061)]),
    service("skinny", &[TCP], &[(2000, 2002)]),
    service("smtp", &[TCP], &[(25, 25)]),
    service("snmp", &[TCP, UDP], &[(161, 162)]),
    service("socks", &[TCP], &[(1080, 1080)]),
    service("sqlnet", &[TCP], &[(1521, 1521)]),
    service("sqlserver", &[TCP], &[(1433, 1433)]),
    service("ssh", &[TCP], &[(22, 22)]),
    service("ssl", &[TCP], &[(443, 443)]),
    service("sunrpc", &[TCP, UDP], &[(111, 111)]),
    service("syslog", &[UDP], &[(514, 514)]),
    service("tacacs", &[TCP, UDP], &[(49, 49)]),
    service("telnet", &[TCP], &[(23, 23)]),
    service("tftp", &[UDP], &[(69, 69)]),
    service("xwindows", &[TCP], &[(6000, 6003)]),
];

/// A table of names and their numbers, which stand by turns.
fn numbered<T: FromStr>(text: &'static str) -> Vec<(&'static str, T)> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let pairs = words.chunks_exact(2);
    pairs
        .filter_map(|p| Some((p[0], p[1].parse().ok()?)))
        .collect()
}

/// IP protocols by their access-list names (IANA protocol numbers); `ip` is 0 here and means any.
pub(crate) static ACL_PROTOCOLS: Keywords<u8> = LazyLock::new(|| {
    numbered(
        "ahp 51 eigrp 88 esp 50 gre 47 icmp 1 igmp 2 ip 0 ipv4 0 ipinip 4 nos 94 \
         ospf 89 pcp 108 pim 103 sctp 132 tcp 6 udp 17",
    )
});

/// TCP ports by their access-list names.
pub(crate) static TCP_PORTS: Keywords<u16> = LazyLock::new(|| {
    numbered(
        "bgp 179 chargen 19 cmd 514 daytime 13 discard 9 domain 53 drip 3949 echo 7 \
         exec 512 finger 79 ftp 21 ftp-data 20 gopher 70 hostname 101 ident 113 irc 194 \
         klogin 543 kshell 544 login 513 lpd 515 msrpc 135 nntp 119 pim-auto-rp 496 \
         pop2 109 pop3 110 smtp 25 sunrpc 111 syslog 514 tacacs 49 talk 517 telnet 23 \
         time 37 uucp 540 whois 43 www 80 http 80",
    )
});

/// UDP ports by their access-list names.
pub(crate) static UDP_PORTS: Keywords<u16> = LazyLock::new(|| {
    numbered(
        "biff 512 bootpc 68 bootps 67 discard 9 dnsix 195 domain 53 echo 7 isakmp 500 \
         mobile-ip 434 nameserver 42 netbios-dgm 138 netbios-ns 137 netbios-ss 139 \
         non500-isakmp 4500 ntp 123 pim-auto-rp 496 rip 520 ripv6 521 snmp 161 snmptrap 162 \
         sunrpc 111 syslog 514 tacacs 49 talk 517 tftp 69 time 37 who 513 xdmcp 177",
    )
});
