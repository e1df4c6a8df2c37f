/** Numbers of a scenario that sliders change. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { parse } from "yaml";
import type { Engine, JsonSchema, Project } from "../../engine/api";
import { assignment, type Knob, numbersOf } from "../../ui/numbers";
import { readQuantity } from "../../ui/quantities";

export type { Knob };

/** A slider of a page: which number of the scenario, in which range, in base units. */
export interface SliderSpec {
  /** As `--set` has it: `policies.FIFO.fifo.limit`. */
  path: string;
  /** Other numbers that are to have the same value. */
  also?: readonly string[];
  label: string;
  min: number;
  max: number;
  along?: "linear" | "log";
  whole?: boolean;
  /** In which it is written: `packets`, `Mb/s`, `ms`, `%`; empty of a plain number. */
  unit: string;
  /** Where it stands at first; what the scenario says if not given. */
  value?: number;
  hint?: string;
}

/** A knob that may move several numbers. */
export interface Moved extends Knob {
  also: readonly string[];
}

/** The slider's number as the list of all numbers has it. */
export function knobOf(spec: SliderSpec | string, numbers: readonly Knob[]): Moved | undefined {
  const path = typeof spec === "string" ? spec : spec.path;
  const listed = numbers.find((knob) => knob.path === path);
  if (typeof spec === "string") {
    return listed && { ...listed, also: [] };
  }
  const { min, max, along = "linear", unit, also = [] } = spec;
  const base = unit === "" ? "" : (readQuantity(`1 ${unit}`)?.base ?? "");
  const value = spec.value ?? listed?.value ?? min;
  return {
    path,
    also,
    steps: listed?.steps ?? [],
    label: spec.label,
    hint: spec.hint ?? listed?.hint ?? "",
    value,
    base,
    unit,
    range: { min, max, along, whole: spec.whole ?? base === "packets" },
    given: true,
  };
}

/** What sliders set that have been moved. */
export function setsOf(knobs: readonly Moved[], values: ReadonlyMap<string, number>): string[] {
  return knobs.flatMap((knob) => {
    const value = values.get(knob.path);
    return value === undefined
      ? []
      : [knob.path, ...knob.also].map((path) => assignment({ ...knob, path }, value));
  });
}

/** Every number of a scenario, as soon as the format is known; none of a text that is no YAML. */
export function useNumbers(engine: Engine, project: Project): readonly Knob[] {
  const [schema, setSchema] = useState<JsonSchema | null>(null);
  useEffect(() => {
    let wanted = true;
    engine.schema("scenario").then(
      (found) => wanted && setSchema(found),
      () => {}, // Without it there are the sliders of the page only.
    );
    return () => {
      wanted = false;
    };
  }, [engine]);
  const text = project.files[project.path];
  return useMemo(() => {
    try {
      return schema && typeof text === "string" ? numbersOf(parse(text), schema) : [];
    } catch {
      return [];
    }
  }, [schema, text]);
}
