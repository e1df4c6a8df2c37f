"""Speech quality of a call whose delay and loss are known: the E-model of ITU-T G.107, G.107.1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from spillgate import _engine


@dataclass(frozen=True)
class Rating:
    """How a call is rated, and by what it loses.

    Attributes:
        r: The rating R, 0 to 100, on the wideband scale 0 to 129:
            `ro - is - idte - idle - idd - ie_eff` plus the advantage.
        mos: The mean opinion score, 1 to 4.5, of that scale.
        ro: Basic signal-to-noise ratio.
        simultaneous: Impairments at the same time as speech, Is.
        talker_echo: Impairment by talker echo, Idte.
        listener_echo: Impairment by listener echo, Idle.
        delay: Impairment by absolute delay, Idd.
        equipment: Impairment by codec and loss, Ie,eff.
    """

    r: float
    mos: float
    ro: float
    simultaneous: float
    talker_echo: float
    listener_echo: float
    delay: float
    equipment: float


def rate(
    delay: float,
    loss: float = 0.0,
    *,
    codec: str | None = "g711",
    burst_ratio: float = 1.0,
    ie: float | None = None,
    bpl: float | None = None,
    scale: Literal["narrowband", "wideband"] | None = None,
    e_model: Mapping[str, float] | None = None,
) -> Rating:
    """Rates a call by the E-model.

    Ratings of the narrow-band scale (G.107) and of the wideband one (G.107.1) do not compare.

    Args:
        delay: Delay from mouth to ear in seconds, 0 to 60; the reverse path is as long.
        loss: Share of the packets that are lost or too late, 0 to 1.
        codec: One of `catalog()["codecs"]`; None with `ie` and `bpl`.
        burst_ratio: Mean length of bursts of missing packets over that of independent losses,
            1 to 8.
        ie: Equipment impairment factor in place of the codec's.
        bpl: Packet-loss robustness factor in place of the codec's.
        scale: On which scale; that of the codec if not given. A narrow-band codec can be rated
            on the wideband one, 35.8 points lower, beside calls with wideband codecs.
        e_model: Other parameters by name, such as `{"telr": 55}`.

    Raises:
        ValueError: If a value is out of its range; says which.

    Example:
        >>> import spillgate
        >>> round(spillgate.rate(0.0).r, 1)
        93.2
        >>> call = spillgate.rate(0.150, loss=0.01, codec="g729a")
        >>> round(call.r, 1), round(call.mos, 2)
        (74.3, 3.79)
        >>> hd = spillgate.rate(0.150, codec="amr-wb-12.65")
        >>> phone = spillgate.rate(0.150, codec="g711", scale="wideband")
        >>> round(hd.mos, 2), round(phone.mos, 2)
        (4.29, 3.62)
    """
    spec = {
        "codec": codec,
        "ie": ie,
        "bpl": bpl,
        "scale": scale,
        "e_model": dict(e_model or {}),
    }
    given = {k: v for k, v in spec.items() if v is not None}
    parts = _engine.rate_call(json.dumps(given), delay, loss, burst_ratio)
    return Rating(
        r=parts["r"],
        mos=parts["mos"],
        ro=parts["ro"],
        simultaneous=parts["is"],
        talker_echo=parts["idte"],
        listener_echo=parts["idle"],
        delay=parts["idd"],
        equipment=parts["ie_eff"],
    )
