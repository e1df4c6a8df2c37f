"""The stored runs of several studies as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spillgate import _engine
from spillgate.errors import InputError, OutputError
from spillgate.rundir import RUNS
from spillgate.saved import opened
from spillgate.whole import replacing


@dataclass(frozen=True)
class Dataset:
    """A table that was written.

    Attributes:
        path: The file.
        studies: Run directories that it is of.
        runs: Runs that it has.
        missing: Runs that these studies asked for and that are stored in none of them.
    """

    path: Path
    studies: int
    runs: int
    missing: int


def write_dataset(
    directories: Sequence[str | Path],
    path: str | Path,
    *,
    force: bool = False,
    confine: bool = False,
) -> Dataset:
    """Writes every value of all stored runs of run directories as one Parquet table.

    Its columns are those of `results.parquet`, then `seed` and `scenario_hash`. There is a column
    for each axis of any study, null in the rows of a study that does not have it; numbers are in
    base units. Runs are read one by one, so that memory does not grow with their number. A run
    that several directories have of the same scenario and seed is written once.

    Args:
        directories: Directories made by `spillgate run` or `Results.save`; studies may be
            interrupted.
        path: The file to make.
        force: Whether an existing file is replaced.
        confine: Whether files outside a directory are refused.

    Raises:
        InputError: If one is no run directory, a run is not as it was written, or an axis of two
            studies cannot be one column.
        OutputError: If the file exists or cannot be written; nothing is then changed.

    Example:
        >>> import pathlib, tempfile, spillgate
        >>> place = pathlib.Path(tempfile.mkdtemp())
        >>> few = spillgate.run("examples/first/scenario.yaml", runs=2)
        >>> written = spillgate.write_dataset([few.save(place / "few")], place / "few.parquet")
        >>> written.runs, written.missing
        (4, 0)
    """
    target = Path(path)
    if not directories:
        msg = "error: there is no run directory to write"
        raise InputError(msg)
    studies = [(opened(Path(d), confine=confine).job, Path(d) / RUNS) for d in directories]
    try:
        if target.is_dir() or (target.exists() and not force):
            how = "name the file to write" if target.is_dir() else "add --force to replace it"
            msg = f"{target} exists; {how}"
            raise OutputError(msg)
        with replacing(target) as temporary:
            runs, missing = _engine.write_dataset(studies, str(temporary))
    except OSError as error:
        msg = f"cannot write {target}: {error.strerror or error}"
        raise OutputError(msg) from error
    return Dataset(target, len(studies), runs, missing)
