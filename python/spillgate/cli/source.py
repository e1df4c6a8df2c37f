"""What the command line names to be run."""

from __future__ import annotations

import argparse

from spillgate.own import given
from spillgate.source import Source


def source(options: argparse.Namespace) -> Source:
    """The scenario with what is given beside it; raises `InputError`."""
    own = given(options)
    return Source.of(options.scenario, None, own.aqm, own.scheduler)
