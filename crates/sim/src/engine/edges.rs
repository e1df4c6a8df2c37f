//! Counting at the edges of the measured period, and counting of packets that arrive across an
//! edge.

use spillgate_core::{Dur, Labels, Packet, Time};
use spillgate_events::EventSet;
use spillgate_measure::Volume;
use spillgate_queueing::Colored;

use super::{ARRIVED, World};
use crate::flow::Origin;
use crate::link::Link;

impl<S: EventSet> World<S> {
    /// Passes an edge of the measured period. The queues' own counters are read at both edges.
    pub(super) fn pass_edge(&mut self) {
        let begins = self.edges.passed == 0;
        self.edges.passed += 1;
        self.edges.next = self.window.end();
        // In place: an array of counts would be the largest allocation of a run with many flows.
        for transfers in &mut self.transfers {
            transfers.on_edge(begins);
        }
        for connection in &self.tcp {
            self.transfers[connection.transfers as usize].on_open(connection.counts());
        }
        if !begins {
            self.count_outstanding();
            self.counts.wakes_in_time = Some(self.counts.wakes);
            self.transmissions_end = self.window.end() + self.longest_transmission();
        }
        if begins {
            // The flows of the plan come first, each with its meter.
            for (meter, flow) in self.meters.iter_mut().zip(&self.flows) {
                if let Some(voice) = &mut meter.voice {
                    voice.begin(flow.seq);
                }
            }
        }
        self.nodes_pass_edge(match begins {
            true => self.window.start(),
            false => self.window.end(),
        });
        let found = self.found();
        self.colored = match begins {
            true => found,
            false => found
                .iter()
                .zip(&self.colored)
                .map(|(now, then)| now.since(then))
                .collect(),
        };
        for link in &mut self.links {
            let Some(port) = &mut link.port else {
                continue; // the lane handles this edge
            };
            if begins {
                port.discipline.reset_peaks();
                if port.ring.is_some() {
                    for leaf in 0..port.queues.len() {
                        let (packets, bytes) = port.backlog(leaf as u16);
                        port.queues[leaf].on_backlog(packets, bytes);
                    }
                }
            }
            for (queue, leaf) in port.queues.iter_mut().zip(port.discipline.leaves()) {
                if begins {
                    queue.marks_ce = leaf.marks_ce;
                } else {
                    queue.marks_ce = leaf.marks_ce - queue.marks_ce;
                    queue.on_backlog(leaf.peak_packets, leaf.peak_bytes);
                    queue.averages = leaf.averages;
                }
            }
        }
    }

    /// The counters of all policers of ports so far.
    fn found(&self) -> Vec<Colored> {
        let own = self.links.iter().filter_map(|l| l.port.as_ref());
        let own = own.flat_map(|p| p.discipline.meters());
        own.map(|(_, found)| *found).collect()
    }

    /// The longest transmission time of a packet on any link; zero where nothing is noted of
    /// arrivals. Input policies count the part of a packet that arrives within the measured period,
    /// also of one that is not outstanding.
    fn longest_transmission(&self) -> Dur {
        if !self.stages.as_ref().is_some_and(|s| s.note_arrivals()) {
            return Dur::ZERO;
        }
        let labels = self.plan.stages.mpls().map_or(0, |_| Labels::MOST_BYTES);
        let tx = |l: &Link| {
            l.rate
                .tx_time(l.overhead.labelled_len(self.longest, labels))
        };
        self.links.iter().map(tx).max().unwrap_or(Dur::ZERO)
    }

    /// Counts the part of a packet of a flow that arrived within the measured period.
    #[inline]
    pub(super) fn count_arrived(&mut self, number: u32, packet: &Packet, volume: Volume) {
        self.meters[number as usize].on_arrived(volume);
        if let Some(marked) = &mut self.marked {
            marked.on_arrived(number, packet, volume);
        }
    }

    /// The interval over which a packet that is complete at `now` has been arriving, if it may lie
    /// partly within the measured period; none if the packet does not count.
    ///
    /// A packet arrives for as long as the slowest link of its path takes to send it, as if the
    /// links behind that one passed each bit on at once. So packets that follow one another never
    /// exceed the rate of that link. A later queue may bring packets closer together; after the end
    /// of the measured period a packet therefore begins to arrive when the one before it on the
    /// last link is complete. A packet that was sent before the measured period and arrives after
    /// it does not count.
    #[cold]
    pub(super) fn arriving(&mut self, now: Time, packet: &Packet) -> Option<(Time, Time)> {
        if now < self.window.start() {
            return None;
        }
        let begin = self.flows[packet.flow as usize].begin as usize;
        let path = match self.failures {
            Some(_) => &self.plan.routes[begin],
            None => {
                let path = &self.hops[begin..];
                let end = path.iter().position(|hop| *hop == ARRIVED);
                &path[..end.unwrap_or(path.len())]
            }
        };
        let (mut slowest, mut behind) = (Dur::ZERO, Dur::ZERO);
        for link in path {
            let link = &self.links[*link as usize];
            let tx = link.rate.tx_time(link.overhead.wire_len(packet.l3_len));
            (slowest, behind) = match tx >= slowest {
                true => (tx, Dur::ZERO),
                false => (slowest, behind + tx),
            };
        }
        let before = |at: Time, by| Time::ZERO + at.since(Time::ZERO + by);
        let to = before(now, behind);
        let mut from = before(to, slowest);
        if let Some(last) = path.last().filter(|_| now >= self.window.end()) {
            let there = self.arrived_until.entry(*last).or_insert(Time::ZERO);
            from = from.max(*there).min(to);
            *there = to.max(*there);
            if from == to && !slowest.is_zero() || !self.window.contains(packet.sent) {
                return None;
            }
        }
        (from < self.window.end()).then_some((from, to))
    }

    /// Receives a packet whose arrival may lie partly outside the measured period.
    #[cold]
    pub(super) fn receive_at_edge(
        &mut self,
        now: Time,
        number: u32,
        origin: Origin,
        packet: &Packet,
        (from, to): (Time, Time),
    ) {
        let part = self.window.part(packet.l3_len.into(), from, to);
        self.count_arrived(number, packet, part);
        let Origin::Data(c) = origin else {
            return;
        };
        let c = c as usize;
        let before = self.tcp[c].receiver.arrived_bytes();
        self.data_arrived(now, c, packet);
        let after = self.tcp[c].receiver.arrived_bytes();
        let new = after.saturating_sub(before).min(packet.l3_len.into());
        let part = self.window.part(new as u32, from, to);
        let t = self.tcp[c].transfers as usize;
        self.transfers[t].on_edge_crossed(Volume::of(new), part);
    }
}
