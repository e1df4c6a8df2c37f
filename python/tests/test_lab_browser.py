"""The built lab in a browser, from the server of `spillgate lab` and as one file."""

import json
import threading
import warnings
from urllib.parse import urlsplit

import browser
import pytest

from spillgate import lab

HOSTILE = "</script><script>globalThis.bad = 1</script><img src=x onerror='globalThis.bad = 1'>"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    program = browser.find()
    built = (lab.SITE / "index.html").is_file()
    if program is None or not built:
        reason = "`make lab` has not built it" if program else "no Chromium (set CHROMIUM)"
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn(f"SKIPPED: the lab in a browser: {reason}", stacklevel=1)
        pytest.skip(reason)
    opened = browser.Browser(program, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture
def scenario(root):
    return lab.Project.of(root / "examples/first/scenario.yaml")


@pytest.fixture
def served(request):
    """A server with a project."""
    with lab.Lab(request.getfixturevalue("scenario")) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def saying(text):
    return f"document.body.innerText.includes({json.dumps(text)})"


def asked(page):
    """What the page asked of others: paths of servers, files."""
    parts = [urlsplit(url) for url in page.requests()]
    return [(p.scheme, p.netloc, p.path) for p in parts if p.scheme not in ("blob", "data")]


def test_the_server_gives_all_that_the_page_asks_for(chromium, served):
    chromium.open(served.url)
    chromium.until(saying("A call beside a download"))
    assert chromium.problems() == []
    host = f"127.0.0.1:{served.server_port}"
    paths = ["/", *(f"/{n}" for n in ("app.js", "app.css", "worker.js", "spillgate.wasm"))]
    wanted = {("http", host, path) for path in (*paths, "/project.json")}
    assert set(asked(chromium)) <= wanted
    before = len(asked(chromium))
    # The module answers: what follows asks nobody.
    chromium.run("location.hash = '#/watch'")
    chromium.until("document.querySelector('canvas') !== null")
    assert len(asked(chromium)) <= max(before, len(wanted))
    assert set(asked(chromium)) == wanted
    assert chromium.problems() == []


def test_one_file_asks_nobody(chromium, scenario, tmp_path):
    file = tmp_path / "lab.html"
    lab.save(file, scenario)
    chromium.open(file)
    chromium.until(saying("A call beside a download"))
    assert chromium.run("location.hash") == "#/scenario"
    assert asked(chromium) == [("file", "", str(file))]
    assert chromium.problems() == []


@pytest.mark.parametrize("kind", ["scenario", "config", "show"])
def test_hostile_projects_run_nothing(chromium, tmp_path, kind):
    file = tmp_path / "lab.html"
    lab.save(file, lab.Project(kind, HOSTILE, {HOSTILE: HOSTILE.encode(), "__proto__": b"x"}))
    chromium.open(file)
    chromium.until("document.querySelector('main') !== null")
    chromium.run("new Promise(done => setTimeout(done, 1000))")
    assert chromium.run("globalThis.bad") is None
    assert chromium.run("document.querySelectorAll('img').length") == 0
    assert asked(chromium) == [("file", "", str(file))]
