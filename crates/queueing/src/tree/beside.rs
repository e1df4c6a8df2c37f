//! How much of what the classes of a rank send is a class's own, by the rule by which they share.
//!
//! Sources: S. J. Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications",
//! INFOCOM 1994 (a packet of every other class); P. Goyal, H. M. Vin, H. Cheng, "Start-Time Fair
//! Queueing", IEEE/ACM ToN 5(5), 1997; S. M. Tabatabaee and J.-Y. Le Boudec, "Deficit Round-Robin:
//! A Second Network Calculus Analysis", RTAS 2021, theorem 1.
//!
//! SCFQ: let a class with the share w wait from s on, F - V be what its tags advance for W bytes,
//! and a class j have the share w_j. Its next packet would finish at V or later when V was last
//! set, so until F it sends w_j (F - V) and a packet more at most; W is w (F - V). If what is in
//! transmission at s belongs to another class of this rank, V is its own finish, and it stands for
//! the packet more of that class. Where an AQM drops the packet that was chosen, and a longer one
//! is sent, V is up to the difference above what others were compared with; a class that comes then
//! begins so far behind them.
//!
//! Start-time FQ: the last of the W bytes, a packet of l, is sent at its start F - l / w, and
//! another class sends what starts by then: the same with W - l in place of W. The first packet may
//! start as late as one of its own, sent just before s, finishes, at V + l' / w. So W counts l' - l
//! more at most.
//!
//! Turns: of W bytes those turns of its own that end before the last packet sends have sent fewer:
//! n of them only if n Q < W. Others have n + 1 turns at most meanwhile, and a deficit from before,
//! which is less than the packet that it was too small for. A packet that an AQM lets follow a
//! shorter one leaves a debt. With WRR a turn is a number of packets, and nothing is left of it.

use spillgate_core::curve::Exact;

use super::Tree;
use super::rule::Rule;
use crate::guarantee::{Load, Reason};

/// Shares are compared in parts of this, rounded to the safe side.
const PARTS: i128 = 1 << 20;

impl Tree {
    /// The share of a class among `others` of its rank, and the bytes that these send before.
    pub(super) fn beside(
        &self,
        class: u16,
        others: &[u16],
        load: &Load,
    ) -> Result<(Exact, u64), Reason> {
        if others.is_empty() {
            return Ok((Exact::from_integer(1), 0));
        }
        match self.node_of(class).rule {
            Rule::Finish | Rule::Start => Ok(self.by_tags(class, others, load)),
            Rule::Bytes | Rule::Packets => Ok(self.by_turns(class, others, load)),
            Rule::Eligible => self.by_eligibility(class, others, load),
            Rule::Clock => Err("a virtual clock leaves no share".into()),
        }
    }

    fn by_tags(&self, class: u16, others: &[u16], load: &Load) -> (Exact, u64) {
        let state = self.class(class);
        let (least, most) = load.stretch(self.counted);
        // For each part of its own the others send so many.
        let parts = |tags: u64, of: u16| {
            let other = i128::from(self.class(of).per_byte).max(1);
            (i128::from(tags) * PARTS + other - 1) / other
        };
        let sum = others.iter().map(|c| parts(state.per_byte, *c)).sum();
        let share = (Exact::new(sum, PARTS) * (most / least) + 1).recip();
        let longer = |c: u16| {
            let longer = self.longest(c, load) - self.shortest(c, load);
            longer.saturating_mul(self.class(c).per_byte)
        };
        // How far V may be above what was compared.
        let judged = others.iter().chain([&class]).filter(|c| self.judges(**c));
        let mut above = judged.map(|c| longer(*c)).max().unwrap_or(0);
        if self.node_of(class).rule == Rule::Start {
            above = above.saturating_add(longer(class));
        }
        let early = others.iter().map(|c| parts(above, *c)).sum();
        let early = (Exact::new(early, PARTS) * (most / least)).ceil();
        let early = u64::try_from(early.to_integer()).unwrap_or(u64::MAX);
        let packets: u64 = others.iter().map(|c| self.longest(*c, load)).sum();
        (share, packets.saturating_add(early))
    }

    fn by_turns(&self, class: u16, others: &[u16], load: &Load) -> (Exact, u64) {
        let packets = self.node_of(class).rule == Rule::Packets;
        let (least, most) = match packets {
            true => (Exact::from_integer(1), Exact::from_integer(1)),
            false => load.stretch(self.counted),
        };
        let turn = |c: u16, packet: u64| {
            let quantum = self.class(c).turns.quantum.unsigned_abs();
            let bytes = if packets { packet } else { 1 };
            i128::from(quantum) * i128::from(bytes)
        };
        let debt = |c: u16| match !packets && self.judges(c) {
            true => self.longest(c, load) - self.shortest(c, load),
            false => 0,
        };
        let own = turn(class, self.shortest(class, load));
        let sent: i128 = others
            .iter()
            .map(|c| turn(*c, self.longest(*c, load)))
            .sum();
        let ratio = Exact::new(sent, own.max(1)) * (most / least);
        let kept = |c: &u16| match packets {
            true => 0,
            false => self.longest(*c, load) - 1 + debt(*c),
        };
        let before = most * sent + ratio * i128::from(debt(class));
        let before = u64::try_from(before.ceil().to_integer()).unwrap_or(u64::MAX);
        let kept: u64 = others.iter().map(kept).sum();
        let kept = (most / least * i128::from(kept)).ceil().to_integer();
        let kept = u64::try_from(kept).unwrap_or(u64::MAX);
        ((ratio + 1).recip(), before.saturating_add(kept))
    }
}
