//! Lines about queueing that are not modelled are listed, each with its number.

use spillgate_import::ConfigImporter;
use spillgate_scenario::{Imported, Platform};

fn read(text: &str) -> Imported {
    match ConfigImporter::default().read("r.cfg", text.as_bytes(), Platform::IosXe) {
        Ok((imported, _)) => imported,
        Err(e) => panic!("{e}"),
    }
}

const POLICY: &str = "policy-map P\n class class-default\n  shape average 1000000\n";

/// Lines that a router acts on and the simulation does not; each stands where it is written.
#[test]
fn what_is_not_modelled_is_listed_with_its_line() {
    for (head, line) in [
        (
            "interface Tunnel0",
            "ip nhrp map group SPOKES service-policy output P",
        ),
        (
            "interface Tunnel0",
            "nhrp map group SPOKES service-policy output P",
        ),
        ("interface Tunnel0", "ip nhrp group SPOKES"),
        ("interface Tunnel0", "qos pre-classify"),
        (
            "interface GigabitEthernet0/0",
            "bgp-policy source ip-qos-map",
        ),
        (
            "interface GigabitEthernet0/0",
            "bgp-policy destination ip-prec-map",
        ),
        ("interface GigabitEthernet0/0", "shaping-rate 5000"),
        ("interface GigabitEthernet0/0", "mls qos trust dscp"),
        ("interface Multilink1", "ppp multilink fragment-delay 10"),
        ("interface Multilink1", "ppp multilink fragment delay 10"),
        ("interface Multilink1", "ppp multilink interleave"),
        ("interface Serial0/0", "frame-relay traffic-shaping"),
        ("interface Serial0/0", "ip rtp header-compression"),
        ("interface Serial0/0", "ip tcp header-compression"),
        ("interface Serial0/0", "ip rtp priority 16384 16383 100"),
        ("interface Serial0/0", "compress stac"),
        ("vc-class atm V", "abr 512 100"),
        ("interface Serial0/0", "tx-queue-limit 3"),
        ("interface ATM0", "tx-ring-limit 3 1/99"),
        ("interface ATM0", "range pvc 1/40 1/50"),
        ("interface ATM0", "svc NAME"),
        ("map-class frame-relay M", "frame-relay cir 64000"),
        ("map-class frame-relay M", "frame-relay mincir 32000"),
        ("map-class frame-relay M", "frame-relay bc 640"),
        ("map-class frame-relay M", "frame-relay be 0"),
        ("map-class frame-relay M", "frame-relay fair-queue"),
        ("map-class frame-relay M", "frame-relay fragment 80"),
        ("map-class frame-relay M", "service-policy output P"),
        ("crypto map C 10 ipsec-isakmp", "qos pre-classify"),
        ("route-map R permit 10", "set ip precedence flash"),
        ("route-map R permit 10", "set ip dscp ef"),
        ("route-map R permit 10", "set ip qos-group 3"),
        ("", "qos queue-softmax-multiplier 1200"),
        ("", "platform qos marker-statistics"),
        ("", "mls qos"),
        ("", "priority-list 1 protocol ip high"),
    ] {
        for indent in [" ", ""] {
            let text = match head {
                // Nothing of the rest is indented, either.
                _ if indent.is_empty() => {
                    format!("policy-map P\nclass class-default\n{head}\ndescription x\n{line}\n")
                }
                "" => format!("{POLICY}{line}\n"),
                _ => format!("{POLICY}{head}\n{indent}description x\n{indent}{line}\n"),
            };
            let number = text.lines().count() as u32;
            let listed = read(&text).unmodelled;
            let found = listed.iter().find(|u| u.line == number);
            assert!(found.is_some_and(|u| u.text == line), "{text}\n{listed:?}");
        }
    }
    // A circuit of an interface is a mode of its own.
    let text = format!(
        "{POLICY}interface ATM0/0.1 point-to-point\n range pvc 1/32 1/40\n  vbr-nrt 512 256 32\n  service-policy output P\n"
    );
    let listed = read(&text).unmodelled;
    let lines: Vec<u32> = listed.iter().map(|u| u.line).collect();
    assert_eq!(lines, [5, 6, 7], "{listed:?}");
}

/// The actions below a `police` line that is left out are left out with it, in one warning.
#[test]
fn what_is_wrong_with_a_policer_is_said_once() {
    let text = "policy-map P
 class class-default
  police cir 1x
   conform-action transmit
   exceed-action drop
  exceed-action drop
  police cir 1000000
   conform-action transmit
  shape average 1000000
";
    let imported = read(text);
    let lines: Vec<_> = imported.warnings.iter().map(|w| (w.code, w.line)).collect();
    assert_eq!(lines, [("W0709", Some(3))], "{:?}", imported.warnings);
    let refused = text.replace("  police cir 1000000\n", "  set cos 1\n");
    let again = read(&refused).warnings;
    let lines: Vec<_> = again.iter().map(|w| w.line).collect();
    assert_eq!(lines, [Some(3), Some(8)], "{again:?}");
}

/// Lines that have nothing to do with queueing are not.
#[test]
fn other_lines_of_such_blocks_are_not_listed() {
    let text = format!(
        "{POLICY}\
interface Tunnel0
 ip nhrp network-id 1
 ip nhrp map multicast dynamic
 ppp multilink group 1
map-class frame-relay M
 no frame-relay adaptive-shaping
 frame-relay end-to-end keepalive mode request
route-map R permit 10
 set ip next-hop 10.0.0.1
 set local-preference 200
vc-class atm V
 broadcast
 oam-pvc manage
platform punt-keepalive disable-kernel-core
interface GigabitEthernet0/0
 service-policy output P
"
    );
    assert_eq!(read(&text).unmodelled, []);
}

/// A list that permits by object groups permits; a member that is not modelled is listed at its
/// line.
#[test]
fn object_groups_of_access_lists_are_read() {
    let text = "\
object-group network PHONES
 description the phones
 host 10.0.0.1
 10.1.0.0 255.255.0.0
 range 10.2.0.4 10.2.0.7
 group-object MORE
object-group network MORE
 host 10.3.0.1
object-group service MEDIA
 udp range 16384 32767
 tcp-udp eq 5060
 icmp echo
ip access-list extended VOICE
 permit object-group MEDIA object-group PHONES any
 permit tcp any object-group MORE eq 443
class-map match-all V
 match access-group name VOICE
policy-map P
 class V
  priority percent 20
interface GigabitEthernet0/0
 bandwidth 10000
 service-policy output P
";
    let imported = read(text);
    let listed: Vec<u32> = imported.unmodelled.iter().map(|u| u.line).collect();
    assert_eq!(listed, [12]);
    let spec = serde_json::to_value(&imported.policies["P"]).unwrap();
    let acl = spec.pointer("/class-based/classes/0/match/acl").unwrap();
    let phones = ["10.0.0.1/32", "10.1.0.0/16", "10.2.0.4/30", "10.3.0.1/32"];
    let mut want = Vec::new();
    for (port, protocol) in [("16384-32767", "udp"), ("5060", "tcp"), ("5060", "udp")] {
        want.extend(phones.map(|src| {
            format!(
                r#"{{"match":{{"dport":"{port}","protocol":"{protocol}","src":"{src}"}},"permit":true}}"#
            )
        }));
    }
    want.push(
        r#"{"match":{"dport":"443","dst":"10.3.0.1/32","protocol":"tcp"},"permit":true}"#
            .to_owned(),
    );
    let want = format!("[{}]", want.join(","));
    assert_eq!(acl.to_string(), want);
    // Without indentation the same.
    let flat: String = text.lines().map(|l| format!("{}\n", l.trim())).collect();
    assert_eq!(read(&flat).policies, imported.policies);
}

/// Groups that contain each other, and groups that double at each level.
#[test]
fn object_groups_are_bounded() {
    let list = "ip access-list extended L\n permit ip object-group G0 any\nclass-map C\n match access-group name L\npolicy-map P\n class C\n  bandwidth 8\n";
    let mut text = String::new();
    for level in 0..12 {
        text += &format!("object-group network G{level}\n");
        for _ in 0..8 {
            text += &format!(" group-object G{}\n", level + 1);
        }
    }
    for last in [
        "object-group network G12\n group-object G0\n",
        "object-group network G12\n host 10.0.0.1\n",
    ] {
        let text = format!("{text}{last}{list}");
        match ConfigImporter::default().read("r.cfg", text.as_bytes(), Platform::Ios) {
            // The line that closes the circle is refused, and then there is no member.
            Ok((imported, _)) => {
                let codes = imported.warnings.iter().map(|w| w.code);
                assert_eq!(codes.filter(|c| *c == "W0709").count(), 1);
                assert!(last.contains("group-object"));
            }
            Err(errors) => assert!(errors.0.iter().all(|e| e.code == "E0702"), "{errors}"),
        }
    }
    // Sixty million pairs of addresses.
    let hosts: String = (0..8000)
        .map(|n| format!(" host 10.0.{}.{}\n", n / 250, n % 250))
        .collect();
    let text = format!(
        "object-group network G0\n{hosts}{}",
        list.replace("G0 any", "G0 object-group G0")
    );
    let errors = ConfigImporter::default().read("r.cfg", text.as_bytes(), Platform::Ios);
    let errors = errors.unwrap_err();
    assert_eq!((errors.0[0].code, errors.0[0].line), ("E0702", Some(8003)));
}
