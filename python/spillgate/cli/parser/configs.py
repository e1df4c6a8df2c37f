"""Commands about scenarios, router configurations and captures."""

from __future__ import annotations

from pathlib import Path

from spillgate.cli.parser.options import (
    Commands,
    add_all,
    add_command,
    add_confine,
    add_format,
    add_numbers,
    add_own,
    add_platform,
    add_set,
    add_strict,
)


def add_check(commands: Commands) -> None:
    """Check a scenario or a configuration."""
    parser = add_command(
        commands, "check", "validate a scenario or configuration and look for mistakes by rules"
    )
    parser.epilog = (
        "exit status: 0 no error found, 1 an error (with --strict also a warning), 2 bad input"
    )
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="scenario (.yaml, .yml, .json), or configuration (Cisco IOS, IOS XE, IOS XR)",
    )
    add_numbers(parser)
    add_own(parser)
    add_confine(parser)
    add_all(parser)
    rules = parser.add_argument_group("rules")
    add_format(rules, "text", "json", "sarif", note="sarif is for code review and CI; ")
    rules.add_argument("--strict", action="store_true", help="fail on warnings, too")
    rules.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="ID",
        help="only this rule, or those whose identifiers begin so; may be repeated",
    )
    rules.add_argument(
        "--ignore", action="append", default=[], metavar="ID", help="not this rule; repeatable"
    )
    rules.add_argument(
        "--explain",
        metavar="ID",
        help="say what a rule, or a warning such as W0702, is about; see 'spillgate list rules'",
    )
    add_platform(rules, "whose meaning commands of a configuration have")


def add_import(commands: Commands) -> None:
    """Say what is understood of a router."""
    reading = add_command(
        commands, "import", "say what is understood of a router's configuration or output"
    )
    reading.add_argument(
        "config",
        type=Path,
        metavar="FILE",
        help="configuration (Cisco IOS, IOS XE or IOS XR), or what 'show policy-map interface' "
        "printed (IOS, IOS XE)",
    )
    reading.add_argument(
        "--as",
        dest="kind",
        choices=("auto", "config", "show-policy-map"),
        default="auto",
        help="what FILE is; default auto, by its content",
    )
    reading.add_argument(
        "--interface",
        metavar="NAME",
        help="show what queues on this interface, or on one of its circuits ('ATM0/0.1 1/32'); "
        "default lists those with a policy",
    )
    add_platform(reading, "whose meaning the commands have; 'spillgate list platforms' names them")
    add_strict(reading)
    add_format(reading, "text", "json")


def add_export(commands: Commands) -> None:
    """Write a policy for a router or a host."""
    export = add_command(
        commands, "export", "write policies as a Cisco IOS configuration or as Linux tc commands"
    )
    export.add_argument(
        "file", type=Path, metavar="FILE", help="router configuration, or scenario (.yaml, .json)"
    )
    export.add_argument("--to", choices=("ios", "tc"), required=True, help="what to write")
    export.add_argument(
        "-o", "--output", type=Path, metavar="OUT", help="file to write; default standard output"
    )
    export.add_argument(
        "--interface",
        metavar="NAME",
        help="of a configuration: this interface only; of a scenario: what the link is called "
        "on the router",
    )
    export.add_argument(
        "--policy", metavar="NAME", help="of a configuration: this policy, whatever has it"
    )
    export.add_argument(
        "--rate",
        metavar="RATE",
        help="of a configuration: rate of the interface, such as '100 Mb/s'; "
        "default its bandwidth, with --to tc also that of its type",
    )
    export.add_argument("--link", metavar="NAME", help="of a scenario: this link only")
    export.add_argument(
        "--variant",
        metavar="NAME",
        help="of a scenario: this variant; needed where there are several",
    )
    add_set(export, "of a scenario: replace a value")
    add_confine(export)
    add_platform(export, "whose meaning IOS commands have; 'spillgate list platforms' names them")
    export.add_argument(
        "--dev",
        metavar="DEV",
        help="with --to tc: network device; default the name of the interface or link",
    )
    export.add_argument(
        "--scheduler",
        metavar="KIND",
        help="with --to tc: htb (default), or ets or prio for priorities and shares only",
    )
    export.add_argument(
        "--filters", metavar="KIND", help="with --to tc: flower or u32; default flower"
    )


def add_profile(commands: Commands) -> None:
    """Measure the traffic of a capture."""
    parser = add_command(commands, "profile", "measure a packet capture and fit sources to it")
    parser.add_argument("capture", type=Path, metavar="FILE", help="capture (pcap or pcapng)")
    parser.add_argument(
        "--by",
        choices=("dscp", "class", "flow"),
        help="what is measured together; default dscp, or class with --config",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="some of the packets, such as src=10.1.0.0/16 or port=5060,5061; may be repeated",
    )
    parser.add_argument(
        "--top",
        type=int,
        default=20,
        metavar="N",
        help="measure the N with the most bytes; default 20",
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="router configuration with the classes"
    )
    parser.add_argument(
        "--interface", metavar="NAME", help="interface of it whose output policy is meant"
    )
    add_platform(parser, "platform of it")
    like = "yaml is a scenario with sources that are like the capture; "
    add_format(parser, "table", "json", "yaml", note=like)
