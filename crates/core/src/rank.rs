//! Whose turn is first at one instant.

/// What kind of wake goes first at one instant: departures before arrivals
/// (the convention of queueing formulas), then failures and repairs, so that
/// what is sent at that instant meets them, then timers; an observer sees the
/// settled state and can never displace a model's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Rank {
    /// A server finished a packet, or a shaper may go on.
    Service = 0,
    /// A packet arrives at the end of a link.
    Delivery = 1,
    /// A link fails or is repaired, or routes change.
    Control = 2,
    /// A source or a protocol's timer.
    Timer = 3,
    /// A sampler.
    Observer = 4,
}
