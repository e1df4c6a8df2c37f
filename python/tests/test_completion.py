"""`spillgate completion`: the shells complete commands, options and names."""

import shutil
import subprocess

import pytest

from spillgate.cli import main

CASES = {
    "spillgate rep": {"report", "reproduce"},
    "spillgate run --ser": {"--series"},
    "spillgate check --format s": {"sarif"},
    "spillgate list met": {"metrics"},
    "spillgate reproduce mi": {"mitroi"},
    "spillgate check --explain SG-Q00": {f"SG-Q00{n}" for n in range(1, 10)},
}
"""What is typed, and what it may become."""

BASH = """\
source "$1"
read -ra COMP_WORDS <<<"$2"
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2} COMPREPLY=()
_shtab_spillgate
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def script(tmp_path, capsys):
    """Writes the script of a shell; skips where there is no such shell."""

    def write(shell):
        if shutil.which(shell) is None:
            pytest.skip(f"there is no {shell}")
        assert main(["completion", shell]) == 0
        path = tmp_path / f"spillgate.{shell}"
        path.write_text(capsys.readouterr().out, encoding="utf-8")
        return path

    return write


def said(*command):
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("typed", CASES)
def test_bash(script, typed):
    assert set(said("bash", "-c", BASH, "bash", str(script("bash")), typed)) == CASES[typed]


@pytest.mark.parametrize("typed", CASES)
def test_fish(script, typed):
    ask = f"source {script('fish')}; complete -C '{typed}'"
    # A name and what it means, with a tab between them.
    assert {line.split("\t")[0] for line in said("fish", "--no-config", "-c", ask)} == CASES[typed]


def test_zsh(script):
    path = script("zsh")
    said("zsh", "-n", str(path))
    assert path.read_text(encoding="utf-8").startswith("#compdef spillgate")


def test_powershell(capsys):
    assert main(["completion", "powershell"]) == 0
    assert "Register-ArgumentCompleter" in capsys.readouterr().out


def test_another_shell_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["completion", "csh"])
    assert ended.value.code == 2
    assert "'bash', 'zsh', 'fish', 'powershell'" in capsys.readouterr().err
