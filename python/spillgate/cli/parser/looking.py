"""Commands that look closer: at packets of a run, at a model of it, at what can be written."""

from __future__ import annotations

from pathlib import Path

from spillgate.cli.parser.options import (
    Commands,
    add_all,
    add_command,
    add_confine,
    add_format,
    add_own,
    add_platform,
    add_recording,
    add_run_directory,
    add_scenario,
    add_set,
    add_sla,
    tcp_port,
)

EVERY = ""
"""What `--worst` has where no queue is named."""


def add_bound(commands: Commands) -> None:
    """Say what cannot be exceeded."""
    bound = add_command(
        commands, "bound", "say which delays and backlogs cannot be exceeded, without simulating"
    )
    add_scenario(bound)
    add_set(bound)
    add_sla(bound)
    add_confine(bound)
    bound.add_argument("--variant", metavar="V", help="of this variant only; default all")
    bound.add_argument(
        "--flows", action="store_true", help="a row for each flow, not only for each class"
    )
    bound.add_argument(
        "--worst",
        nargs="?",
        const=EVERY,
        metavar="QUEUE",
        help="construct and run packets that come near the bound of LINK/QUEUE, or of the queues "
        "of a class; default every queue",
    )
    bound.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="with --worst: make a run directory of the worst case, or one for each below DIR",
    )
    add_format(bound, "table", "json")


def add_lab(commands: Commands) -> None:
    """Open the simulator in the browser."""
    lab = add_command(
        commands, "lab", "open the whole simulator as a page in the browser; nothing leaves it"
    )
    lab.add_argument(
        "file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="what the page begins with: a scenario (.yaml, .yml, .json), a router configuration, "
        "or what 'show policy-map interface' printed",
    )
    add_platform(lab, "whose meaning commands of a configuration have")
    add_confine(lab)
    served = lab.add_argument_group("served on this machine, and to nobody else")
    served.add_argument(
        "--port", type=tcp_port, metavar="N", help="port; default any that is free"
    )
    served.add_argument(
        "--no-browser", action="store_true", help="only say the address; default open it"
    )
    alone = lab.add_argument_group("as a file, which works without a server and a network")
    alone.add_argument(
        "--save", type=Path, metavar="HTML", help="write the lab as one HTML file, with FILE in it"
    )
    alone.add_argument("--force", action="store_true", help="replace the file of --save")


def add_explain(commands: Commands) -> None:
    """Say why packets were late or lost."""
    explain = add_command(commands, "explain", "tell why packets of a run were late or lost")
    add_run_directory(explain)
    add_own(explain)
    explain.add_argument(
        "--flow",
        action="append",
        metavar="NAME",
        help="a flow, a class, or a pattern such as 'voice-*'; repeatable; default every class",
    )
    explain.add_argument(
        "--worst",
        type=int,
        default=3,
        metavar="N",
        help="explain the N packets of each that took longest; default 3",
    )
    explain.add_argument(
        "--drops",
        type=int,
        default=3,
        metavar="N",
        help="show the first N drops of each queue and reason, and marks of each queue; default 3",
    )
    explain.add_argument(
        "--packet", type=int, metavar="N", help="explain packet N of the flow, whatever it took"
    )
    explain.add_argument(
        "--at", metavar="LINK", help="rank by the wait at this link; show the drops there only"
    )
    explain.add_argument(
        "--acks", action="store_true", help="acknowledgments of connections, not their data"
    )
    explain.add_argument("--variant", metavar="V", help="which variant; default the first")
    explain.add_argument(
        "--run", type=int, default=0, metavar="K", help="which run, from 0; default 0"
    )
    add_confine(explain)
    add_format(explain, "text", "json")


def add_pcap(commands: Commands) -> None:
    """Write packets of a run."""
    pcap = add_command(commands, "pcap", "write packets of a run to a pcapng file")
    add_run_directory(pcap)
    add_own(pcap)
    pcap.add_argument(
        "points",
        nargs="+",
        metavar="LINK[:POINT]",
        help="where: LINK:in, LINK:out or LINK:drops; LINK is the last two",
    )
    pcap.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="file to make; default packets.pcapng in the run directory",
    )
    pcap.add_argument("--force", action="store_true", help="replace an existing file")
    add_recording(pcap.add_argument_group("which packets"), "")
    add_confine(pcap)


def add_estimate(commands: Commands) -> None:
    """Say by formulas what a run should show."""
    estimate = add_command(
        commands,
        "estimate",
        "say by formulas what a run should show, and how far runs are from that",
    )
    estimate.add_argument(
        "scenario",
        type=Path,
        metavar="FILE",
        help="scenario file (YAML), or run directory, whose values are then set beside",
    )
    add_set(estimate)
    add_confine(estimate)
    estimate.add_argument("--variant", metavar="V", help="of this variant only; default all")
    add_all(estimate)
    add_format(estimate, "table", "json")


def add_fluid(commands: Commands) -> None:
    """Analyze a queue with TCP as a fluid."""
    fluid = add_command(
        commands, "fluid", "predict which queues of a scenario swing, by the fluid model of TCP"
    )
    add_scenario(fluid)
    add_set(fluid)
    add_confine(fluid)
    fluid.add_argument("--link", metavar="LINK", help="of this link only; default all")
    fluid.add_argument("--variant", metavar="V", help="of this variant only; default all")
    add_format(fluid, "table", "json")


def add_schema(commands: Commands) -> None:
    """Print a schema."""
    schema = add_command(commands, "schema", "print the JSON Schema of a kind of file")
    schema.add_argument(
        "of",
        nargs="?",
        default="scenario",
        metavar="KIND",
        help="scenario (default), or sla: the requirements of a customer",
    )


def add_list(commands: Commands) -> None:
    """List what can be named."""
    listing = add_command(commands, "list", "list what can be named in a scenario")
    listing.add_argument(
        "family", nargs="?", metavar="FAMILY", help="one family only, such as aqm or metrics"
    )


def add_completion(commands: Commands) -> None:
    """Print a script for a shell."""
    completion = add_command(
        commands, "completion", "print the script with which a shell completes commands"
    )
    completion.epilog = """\
bash:        eval "$(spillgate completion bash)", in ~/.bashrc (with the package bash-completion)
zsh:         spillgate completion zsh > DIR/_spillgate, DIR a folder of $fpath
fish:        spillgate completion fish > ~/.config/fish/completions/spillgate.fish
powershell:  spillgate completion powershell | Out-String | Invoke-Expression, in $PROFILE"""
    completion.add_argument(
        "shell", choices=("bash", "zsh", "fish", "powershell"), help="whose script"
    )
