//! Packet captures as traffic.
//!
//! A capture is read as a stream: [`Reader`] frames the records of pcap and
//! pcapng files, [`decode`] finds the IP packet in each, [`Survey`] counts what
//! a file holds and numbers its flows, and [`Replay`] hands out the packets one
//! after the other at the times at which they are to be sent. A buffer of some
//! hundred kilobytes is all that a file of any size takes.
//!
//! ```
//! use spillgate_capture::{Decoded, Reader, decode, testkit};
//!
//! let mut file = testkit::Pcap::default();
//! let packet = testkit::udp4("10.0.0.1:4000", "10.0.0.2:5060", 46, 172);
//! file.record(1_000_000, &testkit::ethernet(&packet));
//! let bytes = file.finish();
//! let mut reader = Reader::new(&bytes[..])?;
//! let record = reader.next()?.expect("one record");
//! let Decoded::Ip(packet) = decode(&record) else { panic!("an IP packet") };
//! assert_eq!((packet.len, packet.dscp.to_string()), (200, "ef".to_owned()));
//! assert_eq!(packet.key.dport, 5060);
//! # Ok::<(), spillgate_capture::CaptureError>(())
//! ```
//!
//! # What counts as what
//!
//! The length of a packet is that of the IP packet as its header says, so
//! padding and trailers of the link do not count; where the header says nothing
//! that can be true (0 with segmentation offload, or more than there was on the
//! wire) it is the record's original length less the link's headers. Records
//! without an IP packet are counted by [`Other`] and are never an error. A file
//! whose framing is broken is a [`CaptureError`] that says at which byte.
#![forbid(unsafe_code)]

mod arrivals;
mod buffer;
mod counts;
mod decode;
mod error;
mod filter;
mod fingerprint;
mod flows;
mod link;
mod packet;
mod pcap;
mod pcapng;
mod reader;
mod remarks;
mod replay;
mod survey;
pub mod testkit;

pub use arrivals::Sent;
pub use counts::Counts;
pub use decode::{Decoded, Other, decode};
pub use error::{CaptureError, Fault};
pub use filter::{Filter, IpNet, PortSpan};
pub use fingerprint::Fingerprint;
pub use flows::{Entry, FlowTable, Grouping, TableFull};
pub use link::LinkType;
pub use packet::{IpPacket, Key};
pub use reader::{Direction, Format, Interface, Reader, Record, Stamp};
pub use remarks::remarks;
pub use replay::{Arrival, Clock, Opener, Replay, Selection};
pub use survey::{Packets, Span, Survey, SurveyError, survey};
