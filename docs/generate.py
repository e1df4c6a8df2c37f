"""Writes the generated parts of the reference: schema, command line, lists, codes."""

import re

import spillgate
from spillgate.cli.parser import command_parsers


def write_all(where):
    """Writes every part into the directory `where`."""
    where.mkdir(parents=True, exist_ok=True)
    parts = {
        "schema": schema(spillgate.schema()),
        "cli": command_line(),
        "metrics": metrics(),
        "codes": codes(),
        "rules": rules(),
        "warnings": warnings(),
        **{f"suite-{name}": text for name, text in suites()},
    }
    for family, entries in spillgate.catalog().items():
        if family not in ("metrics", "codes"):
            parts[f"list-{family}"] = listing(entries)
    for name, node in spillgate.schema().get("$defs", {}).items():
        page = "../reference/scenario.md"
        if "properties" in node:
            parts[f"type-{name}"] = _keys(node, page)
        elif "oneOf" in node:
            parts[f"type-{name}"] = _choices(node["oneOf"], page)
    for name, text in parts.items():
        (where / f"{name}.md").write_text(text, encoding="utf-8")


def cell(text):
    """Text that may stand in a cell of a table."""
    return re.sub(r"\s+", " ", text or "").replace("|", "\\|").strip()


def table(head, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def listing(entries):
    """Kinds with their summaries."""
    named = [(e.get("kind") or e["name"], e["summary"]) for e in entries]
    return table(("kind", "meaning"), [(f"`{name}`", cell(text)) for name, text in named])


def suites():
    """The sections of each suite: what is measured, and what is left out."""
    from spillgate.suites import suites

    for name, of in suites().items():
        rows = []
        for s in of.sections:
            measured = ", ".join(dict.fromkeys(m.name for m in s.measures))
            rows.append((s.number, s.title, s.state, measured or "–", cell(s.left_out) or "–"))
        yield name, table(("section", "title", "state", "measured", "left out, and why"), rows)


def metrics():
    """The metrics with their units."""
    names = {"1": "ratio"}
    return table(
        ("metric", "label", "unit", "better", "meaning"),
        [
            (f"`{m.name}`", m.label, names.get(m.unit, m.unit), m.better or "", cell(m.summary))
            for m in spillgate.metrics()
        ],
    )


def rules():
    """Every rule of `spillgate check` with its texts."""
    return "\n".join(
        f"## {r.id} {r.name}\n\n*{r.level.capitalize()}.* {r.summary}.\n\n{r.explanation}\n\n"
        f"**What to do.** {r.remedy}\n\n**Source.** {r.source}.\n"
        for r in spillgate.rules()
    )


def codes():
    """The codes of diagnostics."""
    rows = [(f"`{e['kind']}`", cell(e["summary"])) for e in spillgate.catalog()["codes"]]
    return table(("code", "meaning"), rows)


def warnings():
    """Every warning of a reader with its texts."""
    return "\n".join(
        f"### {w.id} {w.name}\n\n{w.summary}.\n\n{w.explanation}\n\n**What to do.** {w.remedy}\n"
        for w in spillgate.reader_warnings()
    )


def command_line():
    """The help texts."""
    parts = []
    for name, parser in command_parsers():
        title = f"spillgate {name}".strip()
        parts.append(f"## {title}\n\n```text\n{parser.format_help()}```\n")
    return "\n".join(parts)


def schema(document):
    """Every type of the scenario file, beginning with the file itself."""
    definitions = document.get("$defs", {})
    parts = [_type("Scenario", document)]
    parts += [_type(name, definitions[name]) for name in _order(document, definitions)]
    return "\n".join(parts)


def _order(document, definitions):
    """Names of definitions in the order in which a reader meets them."""
    seen = []

    def visit(node):
        if isinstance(node, dict):
            name = node.get("$ref", "").rpartition("/")[2]
            if name in definitions and name not in seen:
                seen.append(name)
                visit(definitions[name])
            for key, value in node.items():
                if key != "$defs":
                    visit(value)
        elif isinstance(node, list):
            for value in node:
                visit(value)

    visit(document)
    return seen


def _shape(node, page=""):
    """The type of a value in a few words."""
    if node is True or node == {}:
        return "anything"
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return f"[{name}]({page}#{name.lower()})"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in node:
            shapes = [_shape(n, page) for n in node[key] if n.get("type") != "null"]
            return " or ".join(dict.fromkeys(shapes))
    if "const" in node:
        return f"`{node['const']}`"
    if "enum" in node:
        return ", ".join(f"`{v}`" for v in node["enum"])
    kind = node.get("type", "anything")
    if isinstance(kind, list):
        kind = " or ".join(k for k in kind if k != "null")
    if kind == "array":
        return f"list of {_shape(node.get('items', {}), page)}"
    if kind == "object" and isinstance(node.get("additionalProperties"), dict):
        return f"map of {_shape(node['additionalProperties'], page)}"
    ends = [str(node[k]) for k in ("minimum", "maximum") if k in node]
    if len(ends) == 2:
        return f"{kind}, {ends[0]} to {ends[1]}"
    return kind


def _type(name, node):
    lines = [f"## {name}\n"]
    if node.get("description"):
        lines.append(node["description"].strip() + "\n")
    if "properties" in node:
        lines.append(_keys(node))
    lines += [_choices(node[key]) for key in ("oneOf", "anyOf") if key in node]
    if "pattern" in node or "examples" in node:
        examples = ", ".join(f"`{e}`" for e in node.get("examples", []))
        if examples:
            lines.append(f"For example {examples}.\n")
    elif "properties" not in node and "oneOf" not in node and "anyOf" not in node:
        lines.append(f"{_shape(node)[:1].upper()}{_shape(node)[1:]}.\n")
    return "\n".join(lines)


def _keys(node, page=""):
    required = set(node.get("required", ()))
    rows = []
    for key, value in sorted(node["properties"].items(), key=lambda item: item[0] not in required):
        value = value if isinstance(value, dict) else {}
        meaning = cell(value.get("description", ""))
        if "default" in value and not isinstance(value["default"], dict | list):
            default = value["default"]
            if default not in (None, "") and "efault" not in meaning:
                shown = {True: "true", False: "false"}.get(default, default)
                meaning = f"{meaning} Default `{shown}`."
        name = f"`{key}`" + (" (required)" if key in required else "")
        rows.append((name, _shape(value, page), meaning))
    return table(("key", "value", "meaning"), rows)


def _choices(nodes, page=""):
    rows = []
    for node in nodes:
        if node.get("type") == "object" and len(node.get("properties", {})) == 1:
            ((key, value),) = node["properties"].items()
            rows.append((f"`{key}:`", _shape(value, page), cell(node.get("description"))))
        else:
            rows.append((_shape(node, page), "", cell(node.get("description"))))
    return table(("one of", "value", "meaning"), rows)
