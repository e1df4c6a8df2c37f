//! The label stack of a packet, as far as queues and links care for it.
//!
//! Sources: RFC 3032 (the stack), RFC 5462 (its three EXP bits are the traffic class, TC), RFC 3270
//! §2.6 (uniform, pipe and short-pipe models). Label values are not kept: they follow from the way
//! of the packet. TTL is not modelled.

/// Bytes of one label on the wire (RFC 3032 §2.1).
pub const LABEL_BYTES: u16 = 4;

/// Most labels of a packet: one for the way through the provider's network, one for the VPN.
pub const MAX_LABELS: u8 = 2;

/// The label stack of a packet with the TC (EXP) of each label, in one byte.
///
/// A packet without labels may carry the TC of labels to come ([`Labels::intend`]) or of those that
/// are gone ([`Labels::remember`]).
///
/// ```
/// use spillgate_core::Labels;
///
/// let mut labels = Labels::NONE;
/// labels.push(5); // VPN
/// labels.push(5); // transport
/// assert_eq!((labels.depth(), labels.bytes(), labels.tc()), (2, 8, Some(5)));
/// labels.set_top(1);
/// labels.pop(false);
/// assert_eq!((labels.depth(), labels.tc()), (1, Some(5)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels(
    /// Bits 0..2: the number of labels, or [`NOTE`]; 2..5: TC of the top label, or the noted one;
    /// 5..8: TC of the label below, or whether the note is of labels that are gone.
    u8,
);

/// No label, but a noted TC.
const NOTE: u8 = 3;
/// The noted TC is that of labels that are gone.
const GONE: u8 = 1;

impl Labels {
    /// Bytes of as many labels as there may be.
    pub const MOST_BYTES: u16 = 8;
    /// No labels and no note.
    pub const NONE: Self = Self(0);

    const fn new(state: u8, top: u8, below: u8) -> Self {
        Self(state | (top & 7) << 2 | (below & 7) << 5)
    }

    const fn state(self) -> u8 {
        self.0 & 3
    }

    const fn top(self) -> u8 {
        self.0 >> 2 & 7
    }

    const fn below(self) -> u8 {
        self.0 >> 5
    }

    /// How many labels the packet has, 0 to [`MAX_LABELS`].
    pub const fn depth(self) -> u8 {
        match self.state() {
            NOTE => 0,
            n => n,
        }
    }

    /// Bytes that they take on the wire.
    pub const fn bytes(self) -> u16 {
        LABEL_BYTES * self.depth() as u16
    }

    /// Whether there is nothing at all to know of: the case of networks without MPLS.
    #[inline]
    pub const fn is_plain(self) -> bool {
        self.0 == 0
    }

    /// The TC, 0 to 7, by which a queue treats the packet: that of the top label, or of the one
    /// that was removed last if it is remembered. None: by the DSCP.
    pub const fn tc(self) -> Option<u8> {
        match self.state() {
            0 => None,
            NOTE if self.below() != GONE => None,
            _ => Some(self.top()),
        }
    }

    /// The TC of each label, the top one first; none beyond the stack.
    pub const fn stack(self) -> [Option<u8>; MAX_LABELS as usize] {
        match self.state() {
            1 => [Some(self.top()), None],
            2 => [Some(self.top()), Some(self.below())],
            _ => [None, None],
        }
    }

    /// Puts a label on top. A full stack stays as it is.
    pub const fn push(&mut self, tc: u8) {
        *self = match self.state() {
            1 => Self::new(2, tc, self.top()),
            2 => *self,
            _ => Self::new(1, tc, 0),
        };
    }

    /// Removes the top label; its TC. With `copy` the label below takes its TC over (RFC 3270
    /// §2.6.2, uniform model).
    pub const fn pop(&mut self, copy: bool) -> Option<u8> {
        let tc = self.top();
        *self = match self.state() {
            2 => Self::new(1, if copy { tc } else { self.below() }, 0),
            1 => Self::NONE,
            _ => return None,
        };
        Some(tc)
    }

    /// Sets the TC of the top label, if there is one.
    pub const fn set_top(&mut self, tc: u8) {
        if self.depth() > 0 {
            *self = Self::new(self.state(), tc, self.below());
        }
    }

    /// Notes the TC of the labels that the packet will get; no effect on a packet with labels.
    pub const fn intend(&mut self, tc: u8) {
        if self.depth() == 0 {
            *self = Self::new(NOTE, tc, 0);
        }
    }

    /// The noted TC of labels to come.
    pub const fn intended(self) -> Option<u8> {
        if self.state() == NOTE && self.below() != GONE {
            Some(self.top())
        } else {
            None
        }
    }

    /// Notes the TC of the last label, which is gone; no effect on a packet with labels.
    pub const fn remember(&mut self, tc: u8) {
        if self.depth() == 0 {
            *self = Self::new(NOTE, tc, GONE);
        }
    }

    /// Forgets the TC of labels that are gone.
    pub const fn forget(&mut self) {
        if self.state() == NOTE && self.below() == GONE {
            *self = Self::NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_full_stack_and_an_empty_one_stay() {
        let mut labels = Labels::NONE;
        assert_eq!(labels.pop(true), None);
        labels.set_top(3);
        assert!(labels.is_plain());
        (0..3).for_each(|tc| labels.push(tc));
        assert_eq!(labels.stack(), [Some(1), Some(0)]);
        labels.intend(7);
        labels.remember(7);
        assert_eq!(labels.stack(), [Some(1), Some(0)]);
    }

    #[test]
    fn notes_are_of_labels_to_come_or_gone() {
        let mut labels = Labels::NONE;
        labels.intend(6);
        assert_eq!(
            (labels.depth(), labels.tc(), labels.intended()),
            (0, None, Some(6))
        );
        labels.forget();
        assert_eq!(labels.intended(), Some(6));
        labels.remember(4);
        assert_eq!(
            (labels.depth(), labels.tc(), labels.intended()),
            (0, Some(4), None)
        );
        labels.forget();
        assert!(labels.is_plain());
    }

    proptest! {
        /// What a vector of at most two traffic classes does.
        #[test]
        fn behaves_as_a_stack(steps in prop::collection::vec((0..4_u8, 0..8_u8), 0..40)) {
            let (mut labels, mut model) = (Labels::NONE, Vec::new());
            for (what, tc) in steps {
                match what {
                    0 => {
                        labels.push(tc);
                        if model.len() < 2 { model.push(tc); }
                    }
                    1 | 2 => {
                        let copy = what == 2;
                        let gone = model.pop();
                        if let (true, Some(last), Some(tc)) = (copy, model.last_mut(), gone) {
                            *last = tc;
                        }
                        prop_assert_eq!(labels.pop(copy), gone);
                    }
                    _ => {
                        labels.set_top(tc);
                        if let Some(top) = model.last_mut() { *top = tc; }
                    }
                }
                let stack: Vec<u8> = labels.stack().into_iter().flatten().collect();
                prop_assert_eq!(stack, model.iter().rev().copied().collect::<Vec<_>>());
                prop_assert_eq!(usize::from(labels.depth()), model.len());
                prop_assert_eq!(usize::from(labels.bytes()), 4 * model.len());
                prop_assert_eq!(labels.tc(), model.last().copied());
            }
        }
    }
}
