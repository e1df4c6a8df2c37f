"""How much is run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spillgate.papers.domzal import system


@dataclass(frozen=True)
class Effort:
    """Numbers and lengths of runs.

    Attributes:
        few: Runs at each point of figures 7 to 9, at most.
        second: Runs of the second workload, at most.
        scale: Rate of FAN links over the paper's 100 Mb/s in table I; volumes, buffers and the
            streams' packets go with it, so that everything takes as long with fewer packets.
        small: The same for figures 7 to 9, the second workload, and what is beyond the paper, with
            up to 200 elastic flows; see `load`.
        decisive: The same for the ends of figure 6, which decide it.
        deciding: Runs at each point of figure 6, at most.
        failure: Second at which L2 fails.
        aftermath: Seconds after it for which mechanisms are run where only waits matter.
        end: Second at which a run of the paper ends.
        prolonged: Second to which basic FAN is run on.
        timers: For figures 7 to 9.
        costs: Timers for what mechanisms cost the elastic flows, over whole runs.
        traded: Runs at each of those, at most.
        flows: For figure 6.
        sweep_start: Second after which the streams of figures 7 to 9 come.
        sweep_gap: Mean seconds between them.
        sweep_end: Second at which runs end that are about waits at R2 alone.
        crowd: Elastic flows with which no part of the rates does any more; 1200 get 10.4 packets a
            second each.
        ledger: Runs at each point of the ledger, at most; those of the claims if not given.
        brief: Runs of what is beyond the paper, at most.
    """

    few: int = 10
    second: int = 2
    scale: float = 0.2
    small: float = 0.2
    decisive: float = 1.0
    deciding: int = 4
    failure: float = system.FAILURE
    aftermath: float = 10.0
    end: float = system.END
    prolonged: float = 1000.0
    timers: tuple[float, ...] = system.TIMERS
    costs: tuple[float, ...] = (20.0, 60.0, 200.0)
    traded: int = 3
    flows: tuple[int, ...] = (200, 400, 600)
    sweep_start: float = 50.0
    sweep_gap: float = 5.0
    sweep_end: float = 210.0
    crowd: float = 1200.0
    ledger: int | None = None
    brief: int = 1

    def load(self, flows: int) -> float:
        """The rate with so many elastic flows to each destination.

        Each needs some packets a second of its fair share: below about ten it sits in timeouts
        that last longer than `pfl_flow_timeout`, loses its protection and competes with the
        streams.

        Example:
            >>> FULL.load(200), FULL.load(600)
            (0.2, 0.5)
        """
        return max(self.small, flows / self.crowd)

    def rates(self, flows: int) -> float:
        """The rate of mechanisms with so many elastic flows in figure 6, whose ends decide it."""
        ends = (self.flows[0], self.flows[-1])
        return max(self.load(flows), self.decisive if flows in ends else 0.0)

    @property
    def sweep(self) -> system.Workload:
        """The traffic of figures 7 to 9: streams come when the start of the network is over."""
        return replace(system.W_CAL, stream_start=self.sweep_start, stream_gap=self.sweep_gap)


FULL = Effort()
"""A part of the paper's rates, but for what figure 6 is decided by."""

QUICK = Effort(
    few=3,
    second=1,
    decisive=0.2,
    deciding=1,
    timers=(1.0, 5.0, 20.0),
    costs=(20.0, 200.0),
    traded=1,
    flows=(200, 600),
    ledger=1,
)
"""Lower rates throughout, and fewer points."""
