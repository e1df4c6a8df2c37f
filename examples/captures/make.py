#!/usr/bin/env python3
"""Writes office.pcap: ten seconds of what a small office sends, as tcpdump would have it.

Three calls (G.711, EF), a video conference (AF41), web and file traffic in bursts (AF21), some
ARP. 54 bytes of each frame are kept, as `tcpdump -s 54` does. Nothing of it was captured anywhere.
The same numbers give the same file: `python3 make.py other.pcap 5` makes five seconds of it.
"""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

Frame = tuple[bytes, int]
Timed = Iterator[tuple[int, Frame]]

KEPT = 54
EF, AF41, AF21 = 46, 34, 18


def address(text: str) -> bytes:
    """Four bytes."""
    return bytes(int(part) for part in text.split("."))


def packet(
    src: str, dst: str, dscp: int, protocol: int, ports: tuple[int, int], length: int
) -> Frame:
    """The beginning of an Ethernet frame with an IP packet of `length` bytes."""
    ethernet = bytes.fromhex("0200000000020200000000010800")
    ip = struct.pack(
        "!BBHHHBBH4s4s",
        0x45,
        dscp << 2,
        length,
        0,
        0x4000,
        64,
        protocol,
        0,
        address(src),
        address(dst),
    )
    rest = struct.pack("!HH", *ports) + struct.pack("!HH", length - 20, 0) + bytes(12)
    return (ethernet + ip + rest)[:KEPT], len(ethernet) + length


def calls(seconds: int, rng: random.Random) -> Timed:
    """Three calls: 200 B each 20 ms, none in step with another."""
    for call in range(3):
        first = rng.randrange(20_000)
        for at in range(first, seconds * 1_000_000, 20_000):
            ports = (16_384 + 2 * call, 5004)
            yield at, packet(f"10.1.0.{10 + call}", "10.2.0.1", EF, 17, ports, 200)


def conference(seconds: int, rng: random.Random) -> Timed:
    """25 frames per second, every fifteenth four times as large; packets of 1200 B."""
    for frame in range(seconds * 25):
        size = (4 if frame % 15 == 0 else 1) * (2_800 + rng.randrange(1_600))
        sent = 0
        while size > 0:
            length = min(size, 1_160) + 40
            ports = (40_000, 40_000)
            at = frame * 40_000 + sent * 100
            yield at, packet("10.1.0.20", "10.2.0.2", AF41, 17, ports, length)
            size -= length - 40
            sent += 1


def transfers(seconds: int, rng: random.Random) -> Timed:
    """Bursts of full-size TCP segments from several hosts, with pauses between."""
    for host in range(6):
        at = rng.randrange(1_500_000)
        port = 50_000
        while at < seconds * 1_000_000:
            port += 1
            for _ in range(4 + rng.randrange(60)):
                yield at, packet(f"10.1.1.{host}", "10.2.0.3", AF21, 6, (port, 443), 1500)
                at += 300 + rng.randrange(900)
            at += 100_000 + rng.randrange(2_000_000)


def arp(seconds: int) -> Timed:
    """What is no IP is counted and left out."""
    frame = bytes.fromhex("ffffffffffff0200000000010806") + bytes(28)
    for second in range(seconds):
        yield second * 1_000_000 + 7, (frame, 60)


def main() -> None:
    """Writes the file."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("office.pcap")
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    rng = random.Random(1)  # noqa: S311 - nothing is secret
    packets = [
        *calls(seconds, rng),
        *conference(seconds, rng),
        *transfers(seconds, rng),
        *arp(seconds),
    ]
    packets = [p for p in packets if p[0] < seconds * 1_000_000]
    packets.sort(key=lambda p: p[0])
    with out.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, KEPT, 1))
        for at, (data, length) in packets:
            # 1 January 2026; microseconds.
            stamp = 1_767_225_600_000_000 + at
            file.write(struct.pack("<IIII", *divmod(stamp, 1_000_000), len(data), length))
            file.write(data)


if __name__ == "__main__":
    main()
