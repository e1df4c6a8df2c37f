//! Marks that are in no IP header: the CoS of a frame, and what a router notes of a packet while
//! it is inside.
//!
//! Sources: IEEE 802.1Q (the priority code point, called CoS by Cisco); Cisco IOS, `set qos-group`
//! and `match input-interface`. A QoS group does not leave its router; a CoS goes as far as links
//! whose frames carry a tag.

/// The priority of a frame's 802.1Q tag, if it has one, in four bits.
///
/// ```
/// use spillgate_core::Cos;
///
/// assert_eq!((Cos::NONE.value(), Cos::of(5).value()), (None, Some(5)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cos(
    /// 8 plus the priority; 0 for none.
    u8,
);

impl Cos {
    /// No tag.
    pub const NONE: Self = Self(0);

    /// A tag of this priority, 0 to 7; of a larger number the lower three bits count.
    #[inline]
    pub const fn of(priority: u8) -> Self {
        Self(8 | priority & 7)
    }

    /// The priority, 0 to 7; none without a tag.
    #[inline]
    pub const fn value(self) -> Option<u8> {
        match self.0 {
            0 => None,
            n => Some(n & 7),
        }
    }
}

/// What a router notes of a packet between its arrival and its queue.
///
/// It travels in [`crate::Packet::tag`], which schedulers use only once a packet is classified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Marks(
    /// Bits 0..32: the link plus 1; 32..48: the QoS group plus 1; 0 for none.
    u64,
);

impl Marks {
    /// Nothing noted: as a packet of the router's own host.
    pub const NONE: Self = Self(0);

    /// The marks of a packet that came in over the link of this number.
    #[inline]
    pub const fn from_link(link: u32) -> Self {
        Self(link as u64 + 1)
    }

    /// The marks in a packet's tag.
    #[inline]
    pub const fn from_tag(tag: u64) -> Self {
        Self(tag)
    }

    /// As a packet's tag.
    #[inline]
    pub const fn tag(self) -> u64 {
        self.0
    }

    /// The link over which it came in; none if it comes from the node itself.
    pub const fn link(self) -> Option<u32> {
        match self.0 as u32 {
            0 => None,
            n => Some(n - 1),
        }
    }

    /// Its QoS group, if it has one.
    pub const fn qos_group(self) -> Option<u16> {
        match (self.0 >> 32) as u16 {
            0 => None,
            n => Some(n - 1),
        }
    }

    /// Puts it into a QoS group, up to [`MAX_QOS_GROUP`].
    pub const fn set_qos_group(&mut self, group: u16) {
        let group = (group as u64 & 0xfff) + 1;
        self.0 = self.0 & !(0xffff << 32) | group << 32;
    }
}

/// The largest QoS group: 0 to 99 on Cisco IOS, 0 to 511 on IOS XR.
pub const MAX_QOS_GROUP: u16 = 511;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cos_is_a_tag_of_a_priority_or_none() {
        assert_eq!(Cos::NONE.value(), None);
        for priority in 0..8 {
            assert_eq!(Cos::of(priority).value(), Some(priority));
            assert_eq!(Cos::of(8 + priority), Cos::of(priority));
        }
    }

    #[test]
    fn marks_do_not_touch_each_other() {
        let mut marks = Marks::from_link(u32::MAX - 1);
        assert_eq!(
            (marks.link(), marks.qos_group()),
            (Some(u32::MAX - 1), None)
        );
        for group in [0, 99, MAX_QOS_GROUP] {
            marks.set_qos_group(group);
            assert_eq!(marks.link(), Some(u32::MAX - 1));
            assert_eq!(marks.qos_group(), Some(group));
        }
        let mut own = Marks::NONE;
        own.set_qos_group(7);
        assert_eq!((own.link(), own.qos_group()), (None, Some(7)));
        assert_eq!(Marks::from_tag(own.tag()), own);
    }
}
