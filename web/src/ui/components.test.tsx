// @vitest-environment happy-dom
import { type ComponentChildren, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, describe, expect, test, vi } from "vitest";
import { paint, paints } from "./colors";
import { type Column, DataTable, sorted } from "./DataTable";
import { FileDrop } from "./FileDrop";
import { type Problem, Problems, placeOf } from "./Problems";
import { Slider } from "./Slider";
import { Tabs } from "./Tabs";
import { Verdict } from "./Verdict";

const root = document.createElement("div");
document.body.append(root);
afterEach(() => render(null, root));

function show(what: ComponentChildren): HTMLElement {
  act(() => render(what, root));
  return root;
}

function all<E extends HTMLElement = HTMLElement>(selector: string): E[] {
  return [...root.querySelectorAll<E>(selector)];
}

function press(element: Element | undefined, key: string): void {
  act(() => {
    element?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  });
}

describe("tables", () => {
  interface Row {
    name: string;
    x: number | null;
  }
  const columns: Column<Row>[] = [
    { key: "name", label: "Name", value: (r) => r.name },
    { key: "x", label: "X", value: (r) => r.x, numeric: true },
  ];
  const rows: Row[] = [
    { name: "q10", x: null },
    { name: "q9", x: -2 },
    { name: "q1", x: 11 },
    { name: "q2", x: 0 },
  ];
  const names = () => all("tbody tr td:first-child").map((td) => td.textContent);

  test("undefined values are last whichever way, numbers in names count", () => {
    const by = (key: string, descending: boolean) =>
      sorted(rows, columns, { key, descending }).map((r) => r.name);
    expect(by("x", false)).toEqual(["q9", "q2", "q1", "q10"]);
    expect(by("x", true)).toEqual(["q1", "q2", "q9", "q10"]);
    expect(by("name", false)).toEqual(["q1", "q2", "q9", "q10"]);
    expect(by("nothing", false)).toEqual(["q10", "q9", "q1", "q2"]);
  });

  test("a click on a head sorts up, down, and not at all", () => {
    show(<DataTable caption="T" columns={columns} rows={rows} rowKey={(r) => r.name} />);
    const head = () => all("th")[1];
    const click = () => act(() => head()?.querySelector("button")?.click());
    expect(head()?.getAttribute("aria-sort")).toBe("none");
    click();
    expect(head()?.getAttribute("aria-sort")).toBe("ascending");
    expect(names()).toEqual(["q9", "q2", "q1", "q10"]);
    click();
    expect(names()).toEqual(["q1", "q2", "q9", "q10"]);
    click();
    expect(names()).toEqual(["q10", "q9", "q1", "q2"]);
  });

  test("many rows come page by page", () => {
    show(<DataTable caption="T" columns={columns} rows={rows} rowKey={(r) => r.name} page={2} />);
    expect(names()).toHaveLength(2);
    act(() => all<HTMLButtonElement>(".table-more button")[0]?.click());
    expect(names()).toHaveLength(4);
    expect(all(".table-more")).toHaveLength(0);
  });
});

test("tabs: one is in the order of focus, arrows go round", () => {
  const chosen = vi.fn();
  const tabs = ["a", "b", "c"].map((id) => ({ id, label: id.toUpperCase() }));
  show(
    <Tabs label="T" tabs={tabs} active="a" onSelect={chosen}>
      panel
    </Tabs>,
  );
  const buttons = all("[role=tab]");
  expect(buttons.map((b) => b.tabIndex)).toEqual([0, -1, -1]);
  for (const key of ["ArrowLeft", "ArrowRight", "End", "x"]) press(buttons[0], key);
  expect(chosen.mock.calls.flat()).toEqual(["c", "b", "c"]);
  expect(document.activeElement).toBe(buttons[2]);
  const panel = all("[role=tabpanel]")[0];
  expect(panel?.getAttribute("aria-labelledby")).toBe(buttons[0]?.id);
});

test("a slider moves from stop to stop, and takes what is typed when it means something", () => {
  const moved = vi.fn();
  const range = { min: 0, max: 10, along: "linear" as const, whole: true };
  show(<Slider label="Limit" value={4} range={range} onInput={moved} text={(x) => `${x} pkts`} />);
  const slider = all<HTMLInputElement>("input[type=range]")[0] as HTMLInputElement;
  expect([slider.max, slider.value]).toEqual(["10", "4"]);
  expect(slider.getAttribute("aria-valuetext")).toBe("4 pkts");
  act(() => {
    slider.value = "7";
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const field = all<HTMLInputElement>("input[type=text]")[0] as HTMLInputElement;
  for (const typed of ["x", "8"]) {
    act(() => {
      field.value = typed;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    expect(field.getAttribute("aria-invalid")).toBe(typed === "x" ? "true" : null);
  }
  expect(moved.mock.calls.flat()).toEqual([7, 8]);
});

test("problems: the worst first, with a way to their place", () => {
  const problems: Problem[] = [
    { severity: "note", message: "fine", file: "a.yaml" },
    { severity: "error", message: "<b>bad</b>", file: "a.yaml", line: 3, column: 7, key: "x.y" },
  ];
  expect(problems.map(placeOf)).toEqual(["a.yaml", "a.yaml:3:7"]);
  const gone = vi.fn();
  show(<Problems label="P" problems={problems} onGo={gone} />);
  expect(all(".problem-message").map((p) => p.textContent)).toEqual([
    "Error <b>bad</b>",
    "Note fine",
  ]);
  const links = all<HTMLButtonElement>("button");
  expect(links).toHaveLength(1);
  links[0]?.click();
  expect(gone).toHaveBeenCalledWith(problems[1]);
});

test("verdicts have a sign and a word", () => {
  show(["pass", "fail", "undecided", "new"].map((v) => <Verdict key={v} verdict={v} />));
  expect(root.textContent).toBe("✓pass✗fail?undecided–new");
  show(<Verdict verdict="pass" said="proven" />);
  expect(root.textContent).toBe("✓proven");
});

test("dropped files are taken, one unless more are wanted", () => {
  const taken = vi.fn();
  show(<FileDrop onFiles={taken}>here</FileDrop>);
  // happy-dom has no `ondrop`, by which Preact tells the names of events.
  const name = "ondrop" in document.body ? "drop" : "Drop";
  const event = new Event(name, { bubbles: true, cancelable: true });
  const files = [new File(["a"], "a.cfg"), new File(["b"], "b.cfg")];
  Object.assign(event, { dataTransfer: { files } });
  act(() => {
    all("label")[0]?.dispatchEvent(event);
  });
  expect(taken).toHaveBeenCalledWith([files[0]]);
  expect(event.defaultPrevented).toBe(true);
});

test("paints follow the order of names; equal colors have other dashes", () => {
  const byName = paints(["voice", "data", "voice", "bulk"]);
  expect([...byName.values()].map((p) => p.property)).toEqual([
    "--class-0",
    "--class-1",
    "--class-2",
  ]);
  const looks = new Set(
    Array.from({ length: 16 }, (_, i) => paint(i)).map((p) => p.property + p.dash),
  );
  expect(looks.size).toBe(16);
});
