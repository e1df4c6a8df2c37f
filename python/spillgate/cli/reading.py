"""`spillgate import`: what is understood of a router."""

from __future__ import annotations

import argparse

from spillgate import scenario
from spillgate.cli.machine import write_json


def import_config(options: argparse.Namespace) -> int:
    """`spillgate import`."""
    if options.kind == "show-policy-map" or (
        options.kind == "auto" and scenario.is_show_output(options.config)
    ):
        return _import_measured(options)
    found = scenario.understand(
        options.config,
        platform=options.platform,
        interface=options.interface,
        strict=options.strict,
    )
    if options.format == "json":
        write_json(found)
    else:
        from spillgate.cli import config

        config.understood(found, whole=options.interface is not None)
    return 0


def _import_measured(options: argparse.Namespace) -> int:
    found = scenario.offered(options.config, interface=options.interface)
    if options.format == "json":
        write_json(found)
    else:
        from spillgate.cli import measured

        measured.offered(str(options.config), found)
    return 0
