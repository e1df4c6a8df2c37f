//! Protocols and media ports as routers match them.

use spillgate_import::protocol_name;
use spillgate_queueing::spec::{MatchSpec, OneOrMany, PortRange, Protocol};
use spillgate_scenario::Platform;

/// What one `match protocol` or `match ip rtp` line says, and what the router takes it for.
pub(super) struct Line {
    pub(super) text: String,
    pub(super) note: Option<String>,
}

impl Line {
    fn protocol(name: &str, by_port: bool, platform: Platform) -> Self {
        let note = match platform {
            _ if !by_port => None,
            Platform::IosXr => Some(format!(
                "IOS XR has no `match protocol {name}`: an access list of the protocol's ports takes its place"
            )),
            _ => Some(format!(
                "`match protocol {name}` asks NBAR, which looks into packets: the policy means the protocol's well-known ports"
            )),
        };
        Self {
            text: format!("protocol {name}"),
            note,
        }
    }
}

/// Takes what one `match protocol` or `match ip rtp` line says out of a condition.
pub(super) fn take_protocol(m: &mut MatchSpec, platform: Platform) -> Option<Line> {
    let flow = |any| MatchSpec {
        protocol: m.protocol.clone(),
        sport: m.sport.clone(),
        dport: m.dport.clone(),
        any,
        ..MatchSpec::default()
    };
    let without = flow(None);
    if let Some(line) = rtp(&without, platform) {
        (m.protocol, m.sport, m.dport) = (None, None, None);
        return Some(line);
    }
    let with = flow(m.any.clone());
    if let Some(name) = protocol_name(&with) {
        (m.protocol, m.sport, m.dport, m.any) = (None, None, None, None);
        let by_port = with.sport.is_some() || with.dport.is_some() || with.any.is_some();
        return Some(Line::protocol(name, by_port, platform));
    }
    let name = protocol_name(&without)?;
    let by_port = without.sport.is_some() || without.dport.is_some();
    (m.protocol, m.sport, m.dport) = (None, None, None);
    Some(Line::protocol(name, by_port, platform))
}

/// Ports of media by Cisco's custom.
const MEDIA: std::ops::RangeInclusive<u16> = 16_384..=32_767;

/// `ip rtp FIRST COUNT`: the even ones of the UDP destination ports FIRST to FIRST + COUNT, as media
/// goes to even ports and its control to the odd ones above them (RFC 3550 section 11). Sources: Cisco
/// IOS QoS command reference, `match ip rtp`; Cisco 10000 QoS configuration guide, "Usage guidelines
/// for match commands". Other ranges are written as access lists, which know all ports.
fn rtp(m: &MatchSpec, platform: Platform) -> Option<Line> {
    let [PortRange { first, last }] = m.dport.as_ref()?.0[..] else {
        return None;
    };
    let udp = m.protocol == Some(OneOrMany(vec![Protocol(17)])) && m.sport.is_none();
    let media = MEDIA.contains(&first) && MEDIA.contains(&last) && first < last && first % 2 == 0;
    if !udp || !media {
        return None;
    }
    let text = format!("ip rtp {first} {}", last - first);
    let note = match platform {
        Platform::IosXr => format!(
            "IOS XR has no `match {text}`: an access list with `permit udp any any range {first} {last}` takes its place"
        ),
        _ => format!(
            "`match {text}` takes the even ports of the range only, those of media: for the odd ones, too, match an access list"
        ),
    };
    Some(Line {
        text,
        note: Some(note),
    })
}
