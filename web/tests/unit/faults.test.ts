import { describe, expect, it } from "vitest";
import { InputFault, translated } from "../../src/engine/faults";
import { Pace, remaining } from "../../src/engine/pace";

const silent = () => undefined;

describe("what the module throws", () => {
  it("is bad input where it has places, of which only what is there is kept", () => {
    const written = {
      ...{ code: "E0205", severity: "error", file: "a.yaml", line: 7, column: 3 },
      ...{ path: "topology", message: "the unit is missing", found: null, hint: null },
      source: "",
    };
    const error = Object.assign(new Error("…"), { diagnostics: JSON.stringify([written]) });
    const fault = translated(error, silent) as InputFault;
    expect(fault).toBeInstanceOf(InputFault);
    expect(fault.diagnostics).toEqual([
      {
        ...{ code: "E0205", severity: "error", file: "a.yaml", line: 7, column: 3 },
        ...{ key: "topology", message: "the unit is missing" },
      },
    ]);
  });

  it("is bad input, too, where it is a sentence", () => {
    const fault = translated(new Error('there is no link "x"'), silent) as InputFault;
    expect(fault.diagnostics).toEqual([
      { severity: "error", code: "", message: 'there is no link "x"' },
    ]);
  });

  it("is a crash where the module trapped, with what the panic said", () => {
    const trap = new WebAssembly.RuntimeError("unreachable");
    expect(translated(trap, silent)).toBe(trap);
    const said = translated(trap, () => "panicked at x.rs:1") as Error;
    expect(said).toBeInstanceOf(WebAssembly.RuntimeError);
    expect(said.message).toBe("panicked at x.rs:1");
  });

  it("is a crash where it is a mistake of ours", () => {
    const mistake = new TypeError("x is not a function");
    expect(translated(mistake, silent)).toBe(mistake);
  });
});

describe("the pace of slices", () => {
  it("comes to 20 ms whatever an event takes", () => {
    for (const each of [0.0001, 0.001, 0.05]) {
      const pace = new Pace();
      for (let slice = 0; slice < 20; slice += 1) pace.took(pace.events * each);
      expect(pace.events * each).toBeCloseTo(20, 0);
    }
  });

  it("reckons what is left once something is done", () => {
    expect(remaining(0, 3)).toBeNaN();
    expect(remaining(0.25, 3)).toBe(9);
  });
});
