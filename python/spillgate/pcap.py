"""Packets of a run as a pcapng file, for Wireshark, tshark and their like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spillgate import _engine
from spillgate.errors import InputError, OutputError
from spillgate.explain import RecordedRun
from spillgate.own import Own
from spillgate.scenario import Description
from spillgate.whole import replacing

FILE = "packets.pcapng"
"""The file's name in run directories."""

PACKETS = 1_000_000
"""Most packets of a file, if nothing else is said."""

SNAPLEN = 256
"""Bytes that are kept of a packet, if nothing else is said."""


@dataclass(frozen=True)
class Selection:
    """Which packets are recorded.

    Attributes:
        points: Where: `LINK:in` (as they arrive at the port), `LINK:out` (as their transmission
            begins), `LINK:drops`, or `LINK` for its `out` and `drops`.
        start: From here on, a time with unit since the start of the run, warm-up included.
        stop: Until here.
        packets: Most packets.
        snaplen: Bytes that are kept of each.
    """

    points: tuple[str, ...]
    start: str | None = None
    stop: str | None = None
    packets: int = PACKETS
    snaplen: int = SNAPLEN

    def to_json(self) -> dict[str, Any]:
        """What the core takes."""
        for name, value, most in (
            ("packets", self.packets, 2**63),
            ("snaplen", self.snaplen, 2**32 - 1),
        ):
            if not 0 <= value <= most:
                msg = f"error: {name} must be 0 to {most}, not {value}"
                raise InputError(msg)
        return {
            "points": list(self.points),
            "from": self.start,
            "until": self.stop,
            "packets": self.packets,
            "snaplen": self.snaplen,
        }


@dataclass(frozen=True)
class Recorded:
    """What was recorded.

    Attributes:
        path: The file.
        packets: Packets in it.
        left_out: Packets beyond the limit.
        digest: Fingerprint of the run.
    """

    path: Path
    packets: int
    left_out: int
    digest: str


def title(described: Description, variant: str, run: int) -> str:
    """What a file says of itself."""
    return (
        f"{described.name}; variant {variant}, run {run}, seed {described.seed}, "
        f"scenario {described.hash}, version {_engine.VERSION} ({_engine.COMMIT})"
    )


def record(
    directory: str | Path,
    points: str | Sequence[str],
    path: str | Path,
    *,
    variant: str | None = None,
    run: int = 0,
    start: str | None = None,
    stop: str | None = None,
    packets: int = PACKETS,
    snaplen: int = SNAPLEN,
    force: bool = False,
    own: Own | None = None,
    confine: bool = False,
) -> Recorded:
    """Repeats one run of a run directory and writes its packets to a pcapng file.

    Args:
        directory: A directory made by `spillgate run` or `Results.save`.
        points: Where packets are seen: `LINK:in`, `LINK:out`, `LINK:drops`, or `LINK` for the last
            two; or several of them, each an interface of the file.
        path: The file to make. It is written under another name and then renamed.
        variant: Name of the variant; the first, if not given.
        run: Number of the run.
        start: Record from this time on, such as `5 s`, since the start of the run.
        stop: Record until this time.
        packets: Most packets.
        snaplen: Bytes that are kept of each packet; payload is zeros anyway.
        force: Whether an existing file is replaced.
        own: AQMs and schedulers of one's own that the scenario names, without which a run with
            them cannot be repeated.
        confine: Refuses files that are not in the directory.

    Raises:
        InputError: If the directory cannot be repeated, or there is no such link.
        OutputError: If the file exists or cannot be written.
    """
    target = Path(path)
    if target.exists() and not force:
        msg = f"{target} exists; choose another file or add --force to replace it"
        raise OutputError(msg)
    names = (points,) if isinstance(points, str) else tuple(points)
    selection = Selection(names, start, stop, packets, snaplen).to_json()
    recorded = RecordedRun(directory, variant=variant, run=run, own=own, confine=confine)
    recorded.job.check_recording(recorded.index, selection)
    about = title(recorded.description, recorded.variant, run)
    try:
        with replacing(target) as temporary:
            count, left_out, digest = recorded.job.record(
                recorded.index, run, selection, about, str(temporary)
            )
            recorded.verify(digest)
    except OSError as error:
        reason = error.strerror or str(error)
        msg = f"cannot write {target}: {reason}"
        raise OutputError(msg) from error
    return Recorded(target, count, left_out, digest)
