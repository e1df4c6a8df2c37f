//! A bottleneck between two TUN devices.

use std::io;
use std::sync::Arc;

use spillgate_core::Ecn;
use spillgate_forwarder::{Bottleneck, Header, ip};
use tun_rs::{DeviceBuilder, SyncDevice};

/// What a device gives at once, at most.
const MAX_PACKET: usize = 65_536;

/// Forwards from device `from` to device `out` through the bottleneck, and back as it comes, until
/// something fails.
pub(crate) fn forward(from: &str, out: &str, b: Bottleneck) -> io::Result<()> {
    let open = |name: &str| DeviceBuilder::new().name(name).build_sync().map(Arc::new);
    let (near, far) = (open(from)?, open(out)?);
    eprintln!("forwarding {from} to {out}");
    let (back_from, back_to) = (Arc::clone(&far), Arc::clone(&near));
    std::thread::spawn(move || -> io::Result<()> {
        let mut buffer = vec![0; MAX_PACKET];
        loop {
            let n = back_from.recv(&mut buffer)?;
            send(&back_to, &buffer[..n])?;
        }
    });
    let mut buffer = vec![0; MAX_PACKET];
    let arrivals = crate::read_ahead(move || {
        let n = near.recv(&mut buffer)?;
        let packet = &buffer[..n];
        Ok(Header::read(packet).map(|header| (header, packet.to_vec())))
    });
    crate::shape(b, &arrivals, |ecn, mut packet| {
        if ecn == Ecn::Ce {
            ip::mark(&mut packet);
        }
        send(&far, &packet)
    })
}

/// Sends, or loses the packet if the device is down, as a wire does.
fn send(device: &SyncDevice, packet: &[u8]) -> io::Result<()> {
    match device.send(packet) {
        // EIO.
        Err(e) if e.raw_os_error() == Some(5) => Ok(()),
        sent => sent.map(drop),
    }
}
