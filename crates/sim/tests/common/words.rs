//! Values of keys of links, for random networks.

/// What links may add to packets: for random links one of them by anything random about the link.
const OVERHEADS: [&str; 8] = [
    "none",
    "none",
    "ethernet",
    "pppoe-llcsnap",
    "pppoe-ptm ether-vlan",
    "ipoa-vcmux mpu 97",
    "overhead -30",
    "overhead -9 atm",
];

/// The `overhead` of a link.
pub(crate) fn overhead(random: usize) -> &'static str {
    OVERHEADS[random % OVERHEADS.len()]
}

/// Transmit rings of links, behind a comma.
const RINGS: [&str; 6] = [
    "",
    "",
    ", tx_ring: 1 packet",
    ", tx_ring: 2 packets",
    ", tx_ring: 5 packets",
    ", tx_ring: 40 packets",
];

/// The `tx_ring` of a link, behind a comma.
pub(crate) fn ring(random: usize) -> &'static str {
    RINGS[random % RINGS.len()]
}
