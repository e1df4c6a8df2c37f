//! Sessions begin, exchange requests and responses, and end.

use spillgate_core::rng::mix;
use spillgate_core::{Rng, Time};
use spillgate_events::{EventSet, Rank};

use super::World;
use crate::session::Stage;
use crate::tcp::NO_SESSION;

impl<S: EventSet> World<S> {
    /// Sets the wake of a workload's flow to the arrival of its next session.
    pub(crate) fn plan_arrival(&mut self, w: usize) {
        let workload = &mut self.workloads[w];
        if let Some(at) = workload.arrivals.next_start(&mut workload.rng) {
            if at < workload.stop {
                self.events.schedule(workload.flow, at, Rank::Timer);
            }
        }
    }

    /// A session of workload `w` begins, or is refused because all its places are taken.
    pub(crate) fn session_begins(&mut self, w: usize) {
        let now = self.now;
        let workload = &mut self.workloads[w];
        workload.number += 1;
        let hash = mix(u64::from(workload.hash) ^ workload.number << 32);
        let mut rng = Rng::from_key(workload.rng.u64());
        let place = workload.take_place(now);
        let session = &workload.plan.session;
        let (left, exchange) = (session.exchanges(), session.exchange(&mut rng));
        let lifetime = session.lifetime(&mut rng);
        self.plan_arrival(w);
        let Some(place) = place else {
            if self.window.contains(now) {
                let t = self.workloads[w].transfers as usize;
                self.transfers[t].on_refused();
            }
            return;
        };
        let s = &mut self.sessions[place as usize];
        s.rng = rng;
        s.left = left;
        s.exchange = exchange;
        s.since = now;
        s.ends = lifetime.map_or(Time::MAX, |d| now + d);
        s.stage = Stage::Active;
        s.quiet_from = Time::ZERO;
        let (forward, back) = (s.forward, s.back);
        for (connection, hash) in [(Some(forward), hash), (back, hash.rotate_left(32))] {
            let Some(c) = connection else { continue };
            let c = &mut self.tcp[c as usize];
            c.reopen(now);
            // Each session has connections of its own, with other port numbers and so other hashes.
            self.flows[c.data as usize].hash = (hash >> 32) as u32;
            self.flows[c.acknowledgments as usize].hash = hash as u32;
            let flows = [c.data, c.acknowledgments];
            for link in &self.admitting {
                if let Some(port) = &mut self.links[*link as usize].port {
                    flows
                        .into_iter()
                        .for_each(|flow| port.discipline.renew(now, flow));
                }
            }
        }
        self.write_request(place as usize);
    }

    /// The session at `place` writes its next request, or all of its data if there are no
    /// responses.
    fn write_request(&mut self, place: usize) {
        let now = self.now;
        let s = &mut self.sessions[place];
        s.since = now;
        let c = s.forward as usize;
        let forward = &mut self.tcp[c];
        if s.back.is_some() {
            forward.awaited = forward
                .receiver
                .delivered_bytes()
                .saturating_add(s.exchange.request);
        }
        forward.sender.write(now, s.exchange.request);
        forward.act_at = s.ends;
        if s.back.is_none() && s.ends == Time::MAX {
            forward.sender.close(now);
        }
        let t = forward.transfers as usize;
        if self.window.contains(now) {
            self.transfers[t].on_begun();
        }
        self.send_data(c);
    }

    /// The session of connection `c` is due: it writes its next request, or its lifetime is over.
    pub(crate) fn session_due(&mut self, c: usize) {
        let place = self.tcp[c].session as usize;
        let s = &mut self.sessions[place];
        if s.stage != Stage::Active {
            return;
        }
        if self.now >= s.ends {
            self.tcp[c].sender.finish(self.now);
            return;
        }
        let w = s.workload as usize;
        s.exchange = self.workloads[w].plan.session.exchange(&mut s.rng);
        self.write_request(place);
    }

    /// The receiver of connection `c` has the bytes that its application waits for: a complete
    /// request, to which it responds, or the response that ends the exchange.
    #[cold]
    pub(crate) fn awaited_bytes_arrived(&mut self, c: usize) {
        let now = self.now;
        self.tcp[c].awaited = u64::MAX;
        let place = self.tcp[c].session as usize;
        let s = &mut self.sessions[place];
        let Some(back) = s.back else { return };
        let response = s.exchange.response;
        if c == s.forward as usize && response > 0 {
            let server = &mut self.tcp[back as usize];
            server.awaited = server.receiver.delivered_bytes().saturating_add(response);
            server.sender.write(now, response);
            self.send_data(back as usize);
            return;
        }
        s.left -= 1;
        let (forward, left) = (s.forward as usize, s.left);
        let (since, think) = (s.since, s.exchange.think);
        let t = self.tcp[c].transfers as usize;
        if self.transfer_ends(c, since) {
            self.transfers[t].on_done(now.since(since));
        }
        if left > 0 {
            self.tcp[forward].act_at = now + think;
            self.wake_sender(forward);
            return;
        }
        for c in [forward, back as usize] {
            self.tcp[c].sender.close(now);
            // A connection that never sent has nothing to close.
            if self.tcp[c].sender.acked_bytes() + self.tcp[c].sender.unacked_bytes() == 0 {
                self.tcp[c].sender.finish(now);
            }
            self.send_data(c);
            self.end_if_done(c);
        }
    }

    /// The sender of connection `c` is done or has given up.
    #[cold]
    pub(crate) fn connection_ended(&mut self, c: usize) {
        let now = self.now;
        let connection = &mut self.tcp[c];
        let failed = connection.has_failed();
        let t = connection.transfers as usize;
        if connection.session == NO_SESSION {
            connection.alive = false;
            let start = connection.start;
            if !self.transfer_ends(c, start) {
                return;
            }
            match failed {
                true => self.transfers[t].on_failed(),
                false => self.transfers[t].on_done(now.since(start)),
            }
            return;
        }
        connection.alive = false;
        let place = connection.session as usize;
        let s = &mut self.sessions[place];
        if s.stage != Stage::Active {
            return;
        }
        let connections = [Some(s.forward), s.back];
        let open = |c: u32| self.tcp[c as usize].alive;
        if !failed && connections.into_iter().flatten().any(open) {
            return;
        }
        s.stage = Stage::Over;
        for c in connections.into_iter().flatten() {
            self.tcp[c as usize].alive = false; // of no use without the other connection
        }
        let (since, one_way) = (s.since, s.back.is_none());
        // The exchanges of other sessions end one by one.
        if (failed || one_way) && self.transfer_ends(c, since) {
            match failed {
                true => self.transfers[t].on_failed(),
                false => self.transfers[t].on_done(now.since(since)),
            }
        }
        self.free_if_drained(place);
    }

    /// Frees the place of a session that is over, once none of its segments is in flight and no
    /// timer of its receivers is due before the last of them has left the network.
    #[cold]
    pub(crate) fn free_if_drained(&mut self, place: usize) {
        let s = &mut self.sessions[place];
        let connections = [Some(s.forward), s.back];
        let (workload, quiet_from) = (s.workload as usize, s.quiet_from);
        let tcp = &self.tcp;
        let in_use = |c: u32| {
            let connection = &tcp[c as usize];
            // The lane may have counted the loss of its last segment ahead of the clock.
            let timer = connection.receiver.poll_timeout();
            connection.in_flight > 0 || timer.is_some_and(|at| at < quiet_from)
        };
        if s.stage != Stage::Over || connections.into_iter().flatten().any(in_use) {
            return;
        }
        s.stage = Stage::Vacant;
        for c in connections.into_iter().flatten() {
            let connection = &mut self.tcp[c as usize];
            self.transfers[connection.transfers as usize].on_closed(connection.counts());
            connection.vacate();
        }
        let leaving = (quiet_from, place as u32);
        self.workloads[workload].leaving.push(leaving);
    }
}
