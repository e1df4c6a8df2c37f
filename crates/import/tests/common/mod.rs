//! A configuration of any size, for tests of speed.

use std::fmt::Write as _;

/// What [`configuration`] wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// Lines in all.
    pub(crate) lines: u32,
    /// Policy-maps.
    pub(crate) policies: usize,
    /// Interfaces, each with an output policy.
    pub(crate) interfaces: usize,
    /// Lines that are understood and not modelled.
    pub(crate) unmodelled: usize,
    /// Lines about other things than queueing.
    pub(crate) other: u32,
}

/// A running-config of `units` times 50 lines: class-maps, a parent and a child policy-map,
/// an access list, an interface, routing.
pub(crate) fn configuration(units: usize) -> (String, Written) {
    let mut text = String::new();
    for u in 0..units {
        write!(
            text,
            "\
class-map match-any VOICE-{u}
 match dscp ef
 match access-group name MEDIA-{u}
class-map match-all DATA-{u}
 description site {u}
 match ip precedence 2 3
 match not protocol ssh
class-map match-any SIGNAL-{u}
 match class-map DATA-{u}
 match access-group 1{:02}
policy-map CHILD-{u}
 class VOICE-{u}
  priority percent 20
  police cir 2000000 bc 62500
   conform-action transmit
   exceed-action drop
 class SIGNAL-{u}
  bandwidth remaining percent 30
  set discard-class 3
  random-detect dscp-based
  random-detect dscp af31 26 42 10
  random-detect dscp af32 24 42 10
  random-detect ecn
 class class-default
  fair-queue 256
  queue-limit 96000 bytes
policy-map PARENT-{u}
 class class-default
  shape average {}k
  service-policy CHILD-{u}
!
ip access-list extended MEDIA-{u}
 remark media of site {u}
 permit udp 10.{}.{}.0 0.0.0.255 any range 16384 32767
 permit udp any 10.{}.{}.0 0.0.0.255 range 16384 32767
 permit tcp any any eq 5060 log
 deny ip any any
access-list 1{:02} permit udp host 10.0.0.1 any eq snmp
!
interface GigabitEthernet0/0/0.{u}
 description site {u}
 encapsulation dot1Q {u}
 bandwidth 20000
 ip address 10.1.1.1 255.255.255.0
 service-policy output PARENT-{u}
!
router eigrp SITE-{u}
 network 10.0.0.0
 passive-interface default
!
",
            u % 100,
            20_000 + u,
            u / 256 % 256,
            u % 256,
            u / 256 % 256,
            u % 256,
            u % 100,
        )
        .unwrap();
    }
    let written = Written {
        lines: (units * 50 + 1) as u32,
        policies: 2 * units,
        interfaces: units,
        unmodelled: units,
        other: 6 * units as u32,
    };
    (text, written)
}
