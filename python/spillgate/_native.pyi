# The compiled core. Only `spillgate._engine` imports it; a test compares this with the module.

from collections.abc import Sequence
from os import PathLike
from typing import Final, final

__all__ = [
    "InputError",
    "Job",
    "Results",
    "__commit__",
    "__version__",
    "catalog",
    "export",
    "interval",
    "is_show_output",
    "lint",
    "lint_rules",
    "offered",
    "profile_capture",
    "rate_call",
    "reader_warnings",
    "schema",
    "understand",
]

__version__: Final[str]
__commit__: Final[str]

def interval(values: Sequence[float]) -> tuple[float, float, float]: ...
def schema(of: str = "scenario") -> str: ...
def catalog() -> str: ...
def is_show_output(path: PathLike[str] | str) -> bool: ...
def lint(
    path: PathLike[str] | str,
    is_scenario: bool,
    platform: str = "ios",
    overrides: list[str] = ...,
    select: list[str] = ...,
    ignore: list[str] = ...,
) -> str: ...
def lint_rules() -> str: ...
def reader_warnings() -> str: ...
def offered(path: PathLike[str] | str) -> str: ...
def understand(
    path: PathLike[str] | str,
    platform: str = "ios",
    interface: str | None = None,
    strict: bool = False,
) -> str: ...
def profile_capture(
    path: PathLike[str] | str,
    by: str = "dscp",
    only: str = "{}",
    top: int = 20,
    config: PathLike[str] | str | None = None,
    platform: str = "ios",
    interface: str | None = None,
) -> str: ...
def rate_call(voice: str, delay: float, loss: float, burst_ratio: float) -> str: ...
def export(
    path: PathLike[str] | str,
    to: str,
    scenario: bool,
    platform: str = "ios",
    interface: str | None = None,
    link: str | None = None,
    variant: str | None = None,
    policy: str | None = None,
    rate: str | None = None,
    device: str | None = None,
    scheduler: str | None = None,
    filters: str | None = None,
    overrides: list[str] = ...,
) -> str: ...

class InputError(Exception):
    diagnostics: str

@final
class Job:
    def __new__(
        cls,
        path: str,
        overrides: list[str] = ...,
        sla: list[str] = ...,
        seed: int | None = None,
        runs: int | None = None,
        jobs: int = 0,
        ignore_memory: bool = False,
        strict: bool = False,
        engine: str = "express",
        files: dict[str, bytes] = ...,
    ) -> Job: ...
    def describe(self) -> str: ...
    def taken_plainly(self) -> list[tuple[str, list[str]]]: ...
    def start(self, series: list[int] | None = None) -> None: ...
    def progress(self) -> tuple[float, int, int, int]: ...
    def cancel(self) -> None: ...
    def join(self, seconds: float) -> bool: ...
    def cast(self, variant: int) -> str: ...
    def explain(self, variant: int, run: int, question: str) -> str: ...
    def check_recording(self, variant: int, selection: str) -> None: ...
    def record(
        self, variant: int, run: int, selection: str, title: str, path: str
    ) -> tuple[int, int, str]: ...
    def results(self) -> Results: ...

@final
class Results:
    def summary(self, *scopes: str) -> str: ...
    def samples(self, scopes: list[str], metrics: list[str]) -> str: ...
    def verdicts(self) -> str: ...
    def differences(self) -> str: ...
    def transients(self) -> str: ...
    def runs(self) -> str: ...
    def series(
        self,
    ) -> list[tuple[str, int, tuple[str, str, str], tuple[float, float], bytes]]: ...
    @staticmethod
    def outline(values: bytes, room: int) -> list[int]: ...
    @staticmethod
    def extent(values: bytes) -> tuple[float, float, float] | None: ...
    def admission(self) -> str: ...
    def distributions(self) -> str: ...
    def write_json(self, path: str, head: str) -> None: ...
    def write_parquet(self, path: str) -> None: ...
    def write_series(self, path: str) -> None: ...
