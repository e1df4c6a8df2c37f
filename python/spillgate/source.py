"""A scenario with the files that it refers to: on disk, in memory, or both."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, TypeAlias

from spillgate.errors import InputError
from spillgate.own import AqmLike, Own, SchedulerLike

ScenarioLike: TypeAlias = str | Path | Mapping[str, object]
"""A scenario's path, its text (which has a line break), or what it would say as a mapping."""

FilesLike: TypeAlias = Mapping[str, str | bytes]
"""Contents of files by name, as the scenario writes the name."""

NAME = "scenario.yaml"
"""What a scenario without a file is called."""


@dataclass(frozen=True)
class Source:
    """Where a scenario and its files are.

    Attributes:
        path: The scenario's file; without one, its name in the working directory.
        memory: Contents that stand in for files, by name relative to the scenario's directory.
        own: AQMs and schedulers of one's own that the scenario names: see `spillgate.own`.
    """

    path: Path
    memory: Mapping[str, bytes] = field(default_factory=dict)
    own: Own = field(default_factory=Own)

    @classmethod
    def of(
        cls,
        scenario: ScenarioLike | Source,
        files: FilesLike | None = None,
        aqm: AqmLike | None = None,
        scheduler: SchedulerLike | None = None,
    ) -> Source:
        r"""Takes what a user gives.

        Raises:
            InputError: If a mapping holds what YAML cannot say.

        Example:
            >>> Source.of("schema_version: 1\n").path
            PosixPath('scenario.yaml')
            >>> Source.of("examples/first/scenario.yaml").memory
            {}
        """
        own = Own.of(aqm, scheduler)
        if isinstance(scenario, Source):
            return replace(scenario, own=scenario.own.joined(own))
        memory = {
            name: text.encode() if isinstance(text, str) else bytes(text)
            for name, text in (files or {}).items()
        }
        if isinstance(scenario, Mapping):
            try:
                text = json.dumps(scenario, allow_nan=False, ensure_ascii=False, indent=1)
            except (TypeError, ValueError) as error:
                msg = f"error: the scenario holds what no scenario file can: {error}"
                raise InputError(msg) from None
            return cls(Path(NAME), {**memory, NAME: text.encode()}, own)
        if isinstance(scenario, str) and "\n" in scenario:
            return cls(Path(NAME), {**memory, NAME: scenario.encode()}, own)
        return cls(Path(scenario), memory, own)

    def open(self, name: str) -> BinaryIO:
        """Opens a file by its name as the scenario writes it.

        Raises:
            OSError: If it cannot be read.
        """
        if name in self.memory:
            return io.BytesIO(self.memory[name])
        return (self.path.parent / name).open("rb")

    def copy(self, name: str, target: Path) -> None:
        """Copies a file, if there is one."""
        if name not in self.memory and not (self.path.parent / name).is_file():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with self.open(name) as file, target.open("wb") as copy:
            shutil.copyfileobj(file, copy)

    def overlay(self) -> dict[str, bytes]:
        """What is in memory, by the path at which it is looked for."""
        return {str(self.path.parent / name): content for name, content in self.memory.items()}
