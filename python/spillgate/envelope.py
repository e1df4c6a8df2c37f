"""Traffic within token buckets: patterns of bursts, exactly conforming, as captures.

Times are whole picoseconds, and tokens whole picobits, so that nothing is rounded.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge

SECOND = 10**12
"""Picoseconds."""

MOST_PACKETS = 1_000_000
"""Packets of one trace, above which no search is begun."""

_HEADERS = 28
"""Bytes of IPv4 and UDP, which are kept of each packet."""

_LEAST_SHARE = 0.1
"""The least share of the rate that goes into bursts."""

_AT_ONCE, _LEAST_SPREAD = 0.25, 1e-3
"""The share of the patterns whose bursts come at once, and of a period the least that the bursts
of others are spread over: lines send bursts in a small part of it, which equal steps miss."""

_NEAR = 4
"""The power, an even number, by which phases of several sources are near each other."""


@dataclass(frozen=True)
class Envelope:
    """What each source keeps: in any time t no more than `burst` + `rate` t.

    Attributes:
        rate: Rate of the token bucket in b/s.
        burst: Its depth in bytes of IP packets.
        packet: Length of every IP packet in bytes.
    """

    rate: int
    burst: int
    packet: int

    @property
    def packets(self) -> int:
        """The most packets that may come at once."""
        return self.burst // self.packet

    def conforming(self, times: Sequence[int]) -> list[int]:
        """When packets can be sent that are wished at these times (ps): then, or once they may.

        Args:
            times: In order.

        Example:
            >>> Envelope(rate=8_000_000, burst=1000, packet=1000).conforming([0, 0, 5 * 10**9])
            [0, 1000000000, 5000000000]
        """
        full, cost = self.burst * 8 * SECOND, self.packet * 8 * SECOND
        level, now, sent = full, 0, []
        for wished in times:
            at = max(wished, now)
            level = min(full, level + self.rate * (at - now))
            if level < cost:
                wait = -(-(cost - level) // self.rate)
                at, level = at + wait, min(full, level + self.rate * wait)
            level, now = level - cost, at
            sent.append(at)
        return sent


@dataclass(frozen=True)
class Pattern:
    """How sources send: bursts, with an even stream between them.

    Attributes:
        packets: Packets of a burst.
        period: Time from burst to burst in picoseconds.
        length: Time over which a burst is spread in picoseconds; 0: all at once.
        even: Rate of the even stream in b/s.
        phases: When the first burst of each source begins, in picoseconds.
    """

    packets: int
    period: int
    length: int
    even: int
    phases: tuple[int, ...]

    @classmethod
    def at(cls, place: Sequence[float], envelope: Envelope, end: int) -> Pattern:
        """The pattern at a place of the cube from 0 to 1 in each direction.

        Args:
            place: Size, frequency and length of bursts, what is sent between them, the phase of
                the first source, and what those of others differ by (0.5: nothing).
            envelope: What the sources keep.
            end: When the run ends, in picoseconds: each source begins before.
        """
        size, often, spread, rest, first, *others = (min(max(x, 0.0), 1.0) for x in place)
        packets = min(1 + int(size * envelope.packets), envelope.packets)
        share = _LEAST_SHARE ** (1.0 - often)
        period = math.ceil(packets * envelope.packet * 8 * SECOND / (share * envelope.rate))
        even = int(rest * (1.0 - share) * envelope.rate)
        # What comes together hurts most: most of the others begin near the first.
        span = min(period, end - 1)
        offsets = (math.copysign((2 * x - 1) ** _NEAR, x - 0.5) / 2 for x in others)
        starts = tuple(int((first + offset) * span) % span for offset in (0.0, *offsets))
        return cls(packets, period, int(_spread(spread) * period), even, starts)

    @classmethod
    def directions(cls, sources: int) -> int:
        """How many directions the cube has."""
        return 4 + sources

    def wished(self, source: int, packet: int, end: int) -> Iterator[int]:
        """When a source would send packets of so many bytes, before `end`, by time."""
        streams = [self._bursts(self.phases[source], end)]
        if self.even:
            step = max(1, packet * 8 * SECOND // self.even)
            streams.append(iter(range(self.phases[source], end, step)))
        return merge(*streams)

    def _bursts(self, start: int, end: int) -> Iterator[int]:
        for begin in range(start, end, self.period):
            for i in range(self.packets):
                at = begin + self.length * i // self.packets
                if at < end:
                    yield at

    def __str__(self) -> str:
        """In words."""
        every = f"{self.packets} packets every {self.period / 1e9:.4g} ms"
        length = f", spread over {self.length / 1e9:.3g} ms" if self.length else " at once"
        even = f", and {self.even / 1e6:.3g} Mb/s between them" if self.even else ""
        return f"{every}{length}{even}"


def _spread(place: float) -> float:
    """Over which part of a period a burst is spread: none in the first quarter."""
    beyond = (place - _AT_ONCE) / (1.0 - _AT_ONCE)
    return 0.0 if beyond < 0.0 else _LEAST_SPREAD ** (1.0 - beyond)


@dataclass(frozen=True)
class Trace:
    """The packets of sources.

    Attributes:
        envelope: What each source keeps.
        sent: When each source sends its packets, in picoseconds.
    """

    envelope: Envelope
    sent: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, pattern: Pattern, envelope: Envelope, end: int) -> Trace:
        """What sources send that follow a pattern within their envelope, before `end` (ps)."""
        return cls(
            envelope,
            tuple(
                tuple(
                    at
                    for at in envelope.conforming(list(pattern.wished(i, envelope.packet, end)))
                    if at < end
                )
                for i in range(len(pattern.phases))
            ),
        )

    @property
    def bits(self) -> int:
        """Bits of all IP packets."""
        return 8 * self.envelope.packet * sum(map(len, self.sent))

    def capture(self, title: str) -> bytes:
        """A pcapng file: an interface for each source, and a packet at 0 of none of them.

        Replays count times from the first packet of a file, so this one keeps them absolute.
        """
        blocks = [
            _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + _option(1, title)),
            *(_interface(name) for name in ("begin", *map(source_name, range(len(self.sent))))),
            _packet(0, 0, self.envelope.packet),
        ]
        streams = [[(at, i) for at in times] for i, times in enumerate(self.sent, 1)]
        blocks += [_packet(i, at, self.envelope.packet) for at, i in merge(*streams)]
        return b"".join(blocks)


def source_name(number: int) -> str:
    """What the interface of a source is called, from 0."""
    return f"source {number + 1}"


def _block(kind: int, body: bytes) -> bytes:
    size = len(body) + 12
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def _option(code: int, value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<HH", code, len(data)) + data + bytes(-len(data) % 4)


def _interface(name: str) -> bytes:
    # Raw IP packets, and times in picoseconds.
    head = struct.pack("<HHI", 101, 0, _HEADERS)
    return _block(1, head + _option(2, name) + _option(9, b"\x0c") + _option(0, b""))


def _packet(interface: int, at: int, length: int) -> bytes:
    ip = struct.pack(
        ">BBHHHBBHII",
        *(0x45, 0, length, 0, 0, 64, 17, 0),
        # Documentation's addresses (RFC 5737): each source has a flow of its own.
        *(0xC0000200 + interface % 256, 0xC6336401),
    )
    udp = struct.pack(">HHHH", 9000 + interface, 9, length - 20, 0)
    head = struct.pack("<IIIII", interface, at >> 32, at & 0xFFFFFFFF, _HEADERS, length)
    return _block(6, head + _with_checksum(ip) + udp)


def _with_checksum(ip: bytes) -> bytes:
    total = sum(struct.unpack(">10H", ip))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ip[:10] + struct.pack(">H", ~total & 0xFFFF) + ip[12:]
