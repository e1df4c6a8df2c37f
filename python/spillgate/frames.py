"""Summaries as data frames of pandas and polars, and as data sets of xarray."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from spillgate.errors import InputError, MissingDependencyError
from spillgate.points import FULL, columns
from spillgate.rows import Row
from spillgate.scenario import Description

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import xarray as xr

Rows = Sequence[dict[str, Any]]
"""Rows of a summary as the core gives them."""


def to_pandas(rows: Rows, described: Description) -> pd.DataFrame:
    """A data frame with the places of the rows on axes; see `Results.to_pandas`."""
    try:
        import pandas as pd
    except ImportError as error:
        raise _missing("pandas") from error
    return pd.DataFrame(_placed(rows, described), columns=_columns(described))


def to_polars(rows: Rows, described: Description) -> pl.DataFrame:
    """The same for polars; see `Results.to_polars`."""
    try:
        import polars as pl
    except ImportError as error:
        raise _missing("polars") from error
    numbers = [a.name for a in described.axes if a.numbers is not None]
    schema: dict[str, Any] = dict.fromkeys(_columns(described), pl.String())
    schema |= dict.fromkeys(("mean", "low", "high", "bound", *numbers), pl.Float64())
    return pl.DataFrame(_placed(rows, described), schema=schema | {"n": pl.Int64()})


def to_xarray(rows: Rows, described: Description, scope: str) -> xr.Dataset:
    """A data set of the rows of a scope; see `Results.to_xarray`."""
    try:
        import xarray as xr
    except ImportError as error:
        raise _missing("xarray") from error
    frame = to_pandas(rows, described)
    frame = frame[frame["scope"] == scope]
    if frame.empty:
        msg = f"error: nothing in these results is of scope {scope!r}"
        raise InputError(msg)
    along = [a.name for a in described.axes]
    places = ["variant"] if len({p.variant for p in described.points}) > 1 else []
    places = places + along if described.design == FULL else ["point"]
    estimates = ["mean", "low", "high"]
    long = frame.melt([*places, "name", "metric"], estimates, "estimate", "value")
    long["value"] = long["value"].astype(float)
    wide = long.pivot_table(  # one value each
        "value", [*places, "name", "estimate"], "metric", sort=False, dropna=False
    )
    order: dict[str, Sequence[object]] = {
        "point": described.variants,
        "variant": list(dict.fromkeys(p.variant for p in described.points)),
        **{a.name: a.values for a in described.axes},
        "name": list(dict.fromkeys(frame["name"])),
        "estimate": estimates,
    }
    found: xr.Dataset = xr.Dataset.from_dataframe(wide)
    ordered: xr.Dataset = found.reindex({str(k): list(order[str(k)]) for k in found.dims})
    if places != ["point"]:
        return ordered
    of = columns(described.axes, described.points)
    beside = {k: ("point", [of[p][k] for p in described.variants]) for k in ("variant", *along)}
    placed: xr.Dataset = ordered.assign_coords(beside)
    return placed


def _columns(described: Description) -> list[str]:
    axes = [a.name for a in described.axes]
    return [f.name for f in fields(Row)] + (["point", *axes] if axes else [])


def _placed(rows: Rows, described: Description) -> Rows:
    """The rows with variant, point and coordinates apart, if there are axes."""
    places = columns(described.axes, described.points)
    return [{**r, **places[r["variant"]]} for r in rows] if places else rows


def _missing(package: str) -> MissingDependencyError:
    return MissingDependencyError(
        f"{package} is not installed: pip install 'spillgate[{package}]'", name=package
    )
