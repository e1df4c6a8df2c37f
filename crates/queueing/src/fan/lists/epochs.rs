//! The flows that each link of a list considers elastic, which can all be removed at once.
//!
//! A mark is the number of an epoch of the link that has set it. A flush closes the epoch: from
//! then on each flow with its mark counts as unlisted, and is unlinked when next met. So a flush
//! costs the same for one flow and for a million.

use spillgate_core::Time;

/// Marks: not on the list, on it, and from this number on that of an epoch.
pub(super) const ABSENT: u32 = 0;
pub(super) const LISTED: u32 = 1;
const EPOCHS: u32 = 2;

/// The time between two effective flushes of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    pub(super) member: u16,
    /// [`Time::MAX`] for the present one.
    pub(super) closed: Time,
}

/// The present epoch of a link.
#[derive(Clone, Copy, Debug)]
struct Present {
    /// Its mark now.
    mark: u32,
    /// Flows that carry it.
    flows: u32,
}

/// The epochs of all links of a list.
#[derive(Clone, Debug, Default)]
pub(super) struct Epochs {
    all: Vec<Epoch>,
    present: Vec<Present>,
}

impl Epochs {
    /// Adds a link, and returns its number.
    pub(super) fn join(&mut self) -> u16 {
        let member = self.present.len() as u16;
        let mark = self.open(member);
        self.present.push(Present { mark, flows: 0 });
        member
    }

    fn open(&mut self, member: u16) -> u32 {
        self.all.push(Epoch {
            member,
            closed: Time::MAX,
        });
        EPOCHS + self.all.len() as u32 - 1
    }

    /// The epoch that a mark names.
    #[inline]
    pub(super) fn of(&self, mark: u32) -> Option<&Epoch> {
        self.all.get(mark.checked_sub(EPOCHS)? as usize)
    }

    #[inline]
    pub(super) fn is_closed(&self, mark: u32) -> bool {
        mark >= EPOCHS && self.all[(mark - EPOCHS) as usize].closed < Time::MAX
    }

    /// The present mark of a link.
    #[inline]
    pub(super) fn own(&self, member: u16) -> u32 {
        self.present[usize::from(member)].mark
    }

    /// Flows that carry it.
    pub(super) fn marked(&self, member: u16) -> u32 {
        self.present[usize::from(member)].flows
    }

    /// Counts a flow that got the present mark of a link.
    #[inline]
    pub(super) fn gained(&mut self, member: u16) {
        self.present[usize::from(member)].flows += 1;
    }

    /// Counts a flow that lost this mark, whose epoch is not closed.
    #[inline]
    pub(super) fn lost(&mut self, mark: u32) {
        if mark >= EPOCHS {
            let member = self.all[(mark - EPOCHS) as usize].member;
            self.present[usize::from(member)].flows -= 1;
        }
    }

    /// Removes all flows that carry the present mark of a link, and returns their number.
    pub(super) fn flush(&mut self, now: Time, member: u16) -> u32 {
        let Present { mark, flows } = self.present[usize::from(member)];
        if flows > 0 {
            self.all[(mark - EPOCHS) as usize].closed = now;
            let mark = self.open(member);
            self.present[usize::from(member)] = Present { mark, flows: 0 };
        }
        flows
    }
}
