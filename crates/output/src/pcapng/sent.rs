//! Packets that flows are to send, as a capture to replay: an interface for each flow, times in
//! picoseconds.

use std::io;

use spillgate_core::{FlowKey, Packet};

use super::MIN_SNAPLEN;
use super::headers::{Around, headers};
use super::writer::{Direction, Frame, LinkType, Writer};

/// A flow.
pub(crate) struct Sender {
    /// The name of its interface.
    pub(crate) name: String,
    pub(crate) key: FlowKey,
}

/// The file, with packets in the order of [`Packet::sent`]; [`Packet::flow`] is the sender's index.
pub(crate) fn written(
    title: &str,
    senders: &[Sender],
    packets: impl Iterator<Item = Packet>,
) -> io::Result<Vec<u8>> {
    let (mut file, mut head) = (Vec::new(), Vec::new());
    let mut writer = Writer::new(&mut file);
    writer.section(concat!("Spillgate ", env!("CARGO_PKG_VERSION")), title)?;
    for sender in senders {
        writer.interface(LinkType::Raw, MIN_SNAPLEN, 12, &sender.name, "")?;
    }
    let around = Around {
        link: LinkType::Raw,
        nodes: (0, 0),
        labels: [0; 2],
    };
    for packet in packets {
        let key = &senders[packet.flow as usize].key;
        let len = headers(&mut head, &packet, key, None, &around);
        writer.packet(&Frame {
            interface: packet.flow,
            ticks: packet.sent.as_ps(),
            headers: &head,
            kept: len.min(head.len() as u32),
            len,
            direction: Direction::Unknown,
            comment: "",
        })?;
    }
    Ok(file)
}
