import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { Outcome } from "../../src/engine/api";
import type { Task } from "../../src/engine/desk";
import { project, withModule } from "./module";

/** The corpus: the same digests and values as natively, which `corpus/expected.json` has. */

interface Expected {
  digests: Record<string, string>;
  values: Record<string, Record<string, number | null>>;
}

const corpus = fileURLToPath(new URL("../../../corpus/", import.meta.url));
const expected: Record<string, Expected> = JSON.parse(
  readFileSync(`${corpus}expected.json`, "utf8"),
);
const task: Task = { progress: () => {}, pause: async () => {} };

/** As many digits as the corpus has, where Python has rounded ties to even. */
function shown(value: number | null, want: number | null | undefined): number | null {
  if (value === null) return null;
  const below = Number((value * (1 - Number.EPSILON)).toPrecision(6));
  return below === want ? below : Number(value.toPrecision(6));
}

withModule("the corpus in the module", (methods) => {
  it("is all there", () => {
    const names = readdirSync(corpus).filter((name) => name.endsWith(".yaml"));
    expect(names.map((name) => name.replace(".yaml", "")).sort()).toEqual(
      Object.keys(expected).sort(),
    );
  });

  it.each(Object.entries(expected))(
    "%s has the digests and values of native runs",
    {
      timeout: 120_000,
    },
    async (name, want) => {
      const run = (await methods()).run;
      const outcome = (await run(task, project(`corpus/${name}.yaml`), {})) as Outcome;
      const digests = outcome.runs.map((r) => [`${r.variant}/${r.run}`, r.digest]);
      expect(Object.fromEntries(digests)).toEqual(want.digests);
      const rows = outcome.summary.filter((row) => row.scope === "class");
      for (const [of, values] of Object.entries(want.values)) {
        const found = rows.filter((row) => `${row.variant}/${row.name}` === of);
        const same = found.filter((row) => row.metric in values);
        expect(
          Object.fromEntries(same.map((row) => [row.metric, shown(row.mean, values[row.metric])])),
        ).toEqual(values);
      }
    },
  );
});
