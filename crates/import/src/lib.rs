//! Router configurations as policies.
//!
//! [`ConfigImporter`] reads the queueing of a Cisco IOS running-config into the
//! same types that a scenario writes inline, so an imported policy and an
//! inline one cannot behave differently.
//!
//! ```
//! use spillgate_import::ConfigImporter;
//! use spillgate_scenario::{Importer as _, Platform};
//!
//! let config = b"class-map voice
//!  match dscp ef
//! policy-map WAN
//!  class voice
//!   priority percent 15
//! interface Serial0/0
//!  bandwidth 2048
//!  service-policy output WAN
//! ";
//! let imported = ConfigImporter::default().ios("ce.cfg", config, Platform::Ios)?;
//! assert!(imported.policies.contains_key("WAN"));
//! assert_eq!(imported.interfaces["Serial0/0"].output_policy, Some(("WAN".to_owned(), 8)));
//! # Ok::<(), spillgate_scenario::Diagnostics>(())
//! ```
//!
//! # Where the model is not the router
//!
//! Each is listed with its line when a configuration has it. What is marked
//! *recalled* is from memory of Cisco's command references and unchecked.
//!
//! - A `match` that is not modelled holds for no packet. It adds nothing to a
//!   `match-any` class-map and leaves a `match-all` one without packets;
//!   negated it is left out. `match protocol` goes by well-known ports, in
//!   both directions, where NBAR looks into the payload.
//! - `established` in an access list is every TCP packet; entries on other TCP
//!   flags, ICMP types, fragments or times of day are left out.
//! - A policer has three colors where a `violate-action` or a peak rate is given, else two. Its
//!   default burst is CIR/32 bytes, at least 1500 (recalled), which is 250 ms at the committed
//!   rate; so is that of a peak rate, and an excess burst is the committed one unless given
//!   (recalled). With a peak rate and no `violate-action`, what violates meets the exceed action
//!   (recalled).
//! - A shaper's bucket holds Bc + Be, Be being Bc unless given, as the byte
//!   limit in `show policy-map interface` has it.
//! - `fair-queue` in a class has the limits of flow-based WFQ before HQF, 64
//!   packets a conversation, unless the [`Platform`](spillgate_scenario::Platform)
//!   says otherwise; HQF holds a conversation to a quarter of the class's
//!   `queue-limit` (recalled).
//! - A circuit of ATM has the contract of its `pvc`, else that of its classes (`class-vc`,
//!   `class-int`; their order is recalled). Rates of its policy count cells as its link does;
//!   routers count the IP packet and 12 bytes. Percentages are of the sustainable cell rate, of CBR
//!   and UBR of the peak (recalled).
//! - A transmit ring without `tx-ring-limit` has the packets that Cisco's document 6142 gives for
//!   the rate of its line, on every platform; those of IOS XE and IOS XR are a guess. On a circuit
//!   the limit is taken in packets, whatever the port adapter.
//! - An interface without a service-policy that says `fair-queue`,
//!   `no fair-queue`, `hold-queue ... out` or `random-detect` gets a policy of
//!   the name `INTERFACE-DEFAULT:` and its own. One that says nothing gets
//!   none, whatever the default of its type.
#![forbid(unsafe_code)]

mod ios;
pub mod profile;
mod show;
pub mod tc;

pub use ios::CODES as IOS_CODES;
pub use ios::{
    CircuitFacts, ConfigImporter, Definition, InterfaceTree, LineCounts, PlatformFacts, RingFacts,
    Understood, Written, WrittenInterface, counted, interface_bandwidth, interface_name,
    platform_by_name, platforms, protocol_name,
};
pub use show::code::CODES as SHOW_CODES;
pub use show::{is_show_output, offered};
