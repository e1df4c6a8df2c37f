"""`spillgate lab`: what is served, to whom, and the file that stands alone."""

import base64
import gzip
import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from html.parser import HTMLParser

import pytest

from spillgate import lab
from spillgate.cli import main
from spillgate.errors import InputError

POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"
META = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
INDEX = f"<!doctype html>{META}<title>lab</title><script src=app.js></script>"
SLOT = '<script type="application/json" id="spillgate-project">null</script>'
ALONE = f"<!doctype html><title>lab</title>{SLOT}<script>1</script>"

HOSTILE = "</script><script>alert(1)</script><!--<script>\u2028\u202e"


@pytest.fixture
def built(tmp_path, monkeypatch):
    """A site of a few bytes in the place of the built one."""
    site = tmp_path / "_lab"
    site.mkdir()
    for name in lab.TYPES:
        text = {"index.html": INDEX, lab.ALONE: ALONE}.get(name, f"this is {name}")
        (site / name).write_text(text, encoding="utf-8")
        if name.startswith("app"):
            (site / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    (site / "app.css.br").write_bytes(b"brotli")
    monkeypatch.setattr(lab, "SITE", site)
    return site


@contextmanager
def serving(project=None):
    with lab.Lab(project) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def ask(server, path="/", method="GET", **headers):
    """The status, the headers and the body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    host = headers.pop("host", f"127.0.0.1:{server.server_port}")
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for one in [host] if isinstance(host, str) else host:
        connection.putheader("Host", one)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


def test_a_build_without_the_site_says_how_to_build_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lab, "SITE", tmp_path)
    assert main(["lab"]) == 2
    assert "`make lab` builds it" in capsys.readouterr().err


@pytest.mark.usefixtures("built")
def test_the_files_of_the_site_are_served_and_nothing_else(built):
    (built / "secret.txt").write_text("secret")
    with serving() as server:
        for name, kind in lab.TYPES.items():
            status, headers, body = ask(server, f"/{name}")
            assert (status, headers["Content-Type"]) == (200, kind)
            assert body == (built / name).read_bytes()
        assert ask(server, "/")[2] == INDEX.encode()
        assert ask(server, "/?x=1")[2] == INDEX.encode()
        for path in (
            *("/secret.txt", "/../lab.py", "/%2e%2e/lab.py", "/app.js/", "/app.js.gz"),
            *("/_lab/app.js", "/app%2ejs", "/index.html/..", "app.js", "/APP.JS", "/\\app.js"),
        ):
            status, _, body = ask(server, path)
            assert (path, status, body) == (path, 404, b"the lab has no such file\n")


@pytest.mark.usefixtures("built")
def test_every_answer_forbids_what_the_page_does_not_need():
    with serving() as server:
        for path, method in (("/", "GET"), ("/worker.js", "HEAD"), ("/x", "GET"), ("/", "POST")):
            _, headers, _ = ask(server, path, method)
            said = headers["Content-Security-Policy"]
            assert said == f"{POLICY}; frame-ancestors 'none'"
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert headers["Cache-Control"] == "no-store"
            assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
            assert headers["Cross-Origin-Embedder-Policy"] == "require-corp"
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert "Python" not in headers["Server"]


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{}", 200),
        ("localhost:{}", 200),
        ("127.0.0.1", 421),
        ("127.0.0.1:1", 421),
        ("evil.example:{}", 421),
        ("127.0.0.1:{}.evil.example", 421),
        ("[::1]:{}", 421),
        ("", 421),
        ((), 400),
        (("127.0.0.1:{}", "evil.example"), 400),
    ],
)
def test_only_the_servers_own_address_is_answered(host, status):
    with serving() as server:
        of = [host] if isinstance(host, str) else host
        found, _, body = ask(server, host=[h.format(server.server_port) for h in of])
        assert found == status
        assert (b"<title>" in body) == (status == 200)


@pytest.mark.usefixtures("built")
def test_it_listens_on_the_loopback_address_only():
    with serving() as server:
        assert server.server_address[0] == "127.0.0.1"
        assert server.url == f"http://127.0.0.1:{server.server_port}/"


@pytest.mark.usefixtures("built")
def test_other_methods_are_refused_in_a_line():
    with serving() as server:
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "<script>"):
            status, headers, body = ask(server, "/", method)
            assert (status, headers["Allow"]) == (405, "GET, HEAD")
            assert body == b"only GET and HEAD\n"
        status, headers, body = ask(server, "/app.js", "HEAD")
        assert (status, headers["Content-Length"], body) == (200, str(len("this is app.js")), b"")
        assert ask(server, "/" + "x" * 70_000)[0] == 414


@pytest.mark.usefixtures("built")
def test_what_is_compressed_is_sent_so_to_those_who_take_it():
    with serving() as server:
        status, headers, body = ask(server, "/app.js", Accept_Encoding="br, gzip;q=0.5")
        assert (status, headers["Content-Encoding"]) == (200, "gzip")
        assert headers["Vary"] == "Accept-Encoding"
        assert gzip.decompress(body) == b"this is app.js"
        _, headers, body = ask(server, "/app.css", Accept_Encoding="gzip, deflate, br, zstd")
        assert (headers["Content-Encoding"], body) == ("br", b"brotli")
        _, headers, _ = ask(server, "/app.css", Accept_Encoding="gzip, br;q=0")
        assert headers["Content-Encoding"] == "gzip"
        for refused in ("br", "gzip;q=0", "identity"):
            _, headers, body = ask(server, "/app.js", Accept_Encoding=refused)
            assert headers["Content-Encoding"] is None
            assert body == b"this is app.js"
        assert ask(server, "/worker.js", Accept_Encoding="gzip")[2] == b"this is worker.js"


@pytest.mark.usefixtures("built")
def test_the_page_begins_with_the_files_of_a_project(root):
    with serving() as server:
        assert ask(server, "/project.json")[2] == b"null"
    edge = root / "examples/voice-edge"
    with serving(lab.Project.of(edge / "scenario.yaml")) as server:
        assert server.url.endswith("/#/scenario")
        _, headers, body = ask(server, "/project.json")
        assert headers["Content-Type"] == "application/json; charset=utf-8"
        found = json.loads(body)
    assert (found["kind"], found["path"]) == ("scenario", "scenario.yaml")
    names = ("scenario.yaml", "edge.cfg")
    assert found["files"] == {n: {"text": (edge / n).read_text(encoding="utf-8")} for n in names}


@pytest.mark.parametrize(
    ("file", "kind", "page"),
    [
        ("ce-node/policies.cfg", "config", "router"),
        ("voice-edge/show.txt", "show", "router"),
        ("first/scenario.yaml", "scenario", "scenario"),
    ],
)
def test_files_are_told_apart_as_by_other_commands(root, file, kind, page):
    found = lab.Project.of(root / "examples" / file)
    assert (found.kind, found.page, found.path) == (kind, page, file.split("/")[1])


def test_what_is_no_text_travels_in_base64():
    data = bytes(range(256))
    found = json.loads(lab.Project("scenario", "s.yaml", {"t.pcap": data}).document())
    assert base64.b64decode(found["files"]["t.pcap"]["base64"]) == data


@pytest.mark.usefixtures("built")
def test_a_file_that_is_wrong_is_refused_before_anything_is_served(tmp_path, capsys):
    bad = tmp_path / "bad.yaml"
    bad.write_text("schema_version: 1\ntopology: 7\n")
    assert main(["lab", str(bad), "--no-browser"]) == 2
    assert f"{bad}:2:" in capsys.readouterr().err
    for missing in ("none.yaml", "none.cfg"):
        assert main(["lab", str(tmp_path / missing), "--no-browser"]) == 2
        assert "cannot read" in capsys.readouterr().err
    assert main(["lab", str(tmp_path), "--no-browser"]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_a_long_capture_is_refused_with_what_can_be_done(root, tmp_path, monkeypatch):
    monkeypatch.setattr(lab, "MOST_BYTES", 500)
    with pytest.raises(InputError, match=r"the lab takes 500 B at most.*\n.*spillgate run"):
        lab.Project.of(root / "examples/first/scenario.yaml")
    long = tmp_path / "long.cfg"
    with long.open("wb") as file:
        file.truncate(3_000_000_000)
    # Its size is looked at before it is read.
    with pytest.raises(InputError, match=r"long.cfg: error: it has 3 GB; the lab"):
        lab.Project.of(long)


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--force",), "add --save FILE"),
        (("--save", "x.html", "--port", "0"), "leave out --port"),
        (("--save", "x.html", "--no-browser"), "leave out --port"),
    ],
)
def test_options_without_an_effect_are_refused(arguments, said, capsys):
    assert main(["lab", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("port", ["-1", "65536", "http", "1.5"])
def test_what_is_no_port_is_refused(port, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["lab", "--port", port])
    assert "is no port" in capsys.readouterr().err


@pytest.mark.usefixtures("built")
def test_a_port_that_is_taken_is_named(capsys):
    with serving() as server:
        assert main(["lab", "--port", str(server.server_port), "--no-browser"]) == 2
        assert f"port {server.server_port} cannot be used" in capsys.readouterr().err


class Scripts(HTMLParser):
    """The scripts of a page with what is in them."""

    def __init__(self):
        super().__init__()
        self.found = []
        self.inside = False

    def handle_starttag(self, tag, attrs):
        if tag == "script":
            self.inside = True
            self.found.append((dict(attrs).get("id"), ""))

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "script"

    def handle_data(self, data):
        if self.inside:
            name, so_far = self.found[-1]
            self.found[-1] = name, so_far + data


@pytest.mark.usefixtures("built")
def test_names_and_texts_run_nothing_in_the_file_that_stands_alone():
    project = lab.Project("scenario", HOSTILE, {HOSTILE: HOSTILE.encode()})
    text = lab.alone(project)
    scripts = Scripts()
    scripts.feed(text)
    assert [name for name, _ in scripts.found] == ["spillgate-project", None]
    assert scripts.found[1][1] == "1"
    found = json.loads(scripts.found[0][1])
    assert found["path"] == HOSTILE
    assert found["files"] == {HOSTILE: {"text": HOSTILE}}
    assert not re.search("[\u2028\u202e]|<!--", text)


@pytest.mark.usefixtures("built")
def test_the_file_is_written_once(root, tmp_path, capsys):
    target = tmp_path / "lesson.html"
    scenario = str(root / "examples/first/scenario.yaml")
    assert main(["lab", "--save", str(target)]) == 0
    assert target.read_text(encoding="utf-8") == ALONE
    assert capsys.readouterr().out == f"{target}\n"
    assert main(["lab", scenario, "--save", str(target)]) == 2
    assert "add --force" in capsys.readouterr().err
    assert target.read_text(encoding="utf-8") == ALONE
    assert main(["lab", scenario, "--save", str(target), "--force"]) == 0
    assert '"kind": "scenario"' in target.read_text(encoding="utf-8")
    assert main(["lab", "--save", str(tmp_path / "no/lesson.html")]) == 2
    assert "cannot write the lab" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_ctrl_c_ends_the_command_well(built, root, name):
    program = f"""
from pathlib import Path
from spillgate import lab
from spillgate.cli import main
lab.SITE = Path({str(built)!r})
raise SystemExit(main(["lab", {str(root / "examples/first/scenario.yaml")!r}, "--no-browser"]))
"""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        line = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:(\d+)/#/scenario", line)
        connection = http.client.HTTPConnection("127.0.0.1", int(address[1]), timeout=10)
        # Left open: a visitor does not hold the server back.
        connection.request("GET", "/project.json")
        assert connection.getresponse().status == 200
        process.send_signal(getattr(signal, name))
        _, err = process.communicate(timeout=10)
        connection.close()
    assert (process.returncode, err) == (0, "")


@pytest.mark.usefixtures("built")
def test_the_browser_gets_the_address(monkeypatch):
    asked = threading.Event()
    seen = []
    monkeypatch.setattr("webbrowser.open", lambda url: (seen.append(url), asked.set()))
    with serving() as server:
        server.open_browser()
        assert asked.wait(10)
        assert seen == [server.url]


@pytest.mark.parametrize("name", ["index.html", lab.ALONE])
def test_a_site_of_another_build_says_how_to_build_it_anew(built, name, root, capsys):
    (built / name).write_text("<title>lab</title>")
    scenario = str(root / "examples/first/scenario.yaml")
    where = ["--save", str(built / "x.html")] if name == lab.ALONE else ["--no-browser"]
    assert main(["lab", scenario, *where]) == 2
    assert "`make lab` builds it anew" in capsys.readouterr().err


def test_the_page_agrees_with_the_server(root):
    parts, project = (
        (root / f"web/src/engine/{name}.ts").read_text(encoding="utf-8")
        for name in ("parts", "project")
    )
    slot, served = (re.search(rf'const {n} = "(.*?)"', parts)[1] for n in ("SLOT", "SERVED"))
    assert f'id="{slot}"' in SLOT
    assert served == lab.PROJECT
    most = re.search(r"const MOST_BYTES = ([\d_]+)", project)[1]
    assert int(most) == lab.MOST_BYTES
    forms = (root / "web/build/forms.mjs").read_text(encoding="utf-8")
    assert SLOT in forms
    assert '<meta http-equiv="Content-Security-Policy" content="${policy}">' in forms
    names = re.findall(r'"([\w.-]+)": ', (root / "web/build/assemble.mjs").read_text())
    assert {*names, lab.ALONE} == set(lab.TYPES)
