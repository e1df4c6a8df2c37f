import type { Outcome, RunRow } from "../../engine/api";
import { useTexts } from "../../texts";
import { type Column, DataTable } from "../../ui/DataTable";
import { whole } from "../../ui/format";

/** What was assumed, and the runs with their fingerprints. */
export function Assumptions({ outcome }: { outcome: Outcome }) {
  const t = useTexts().scenario;
  const { assumptions, conclusion } = outcome.words;
  const columns: Column<RunRow>[] = [
    { key: "variant", label: t.variant, value: (r) => r.variant || t.asWritten },
    { key: "run", label: t.oneRun, numeric: true, value: (r) => r.run + 1 },
    { key: "seed", label: t.seed, numeric: true, value: (r) => r.seed },
    {
      key: "packets",
      label: t.packets,
      numeric: true,
      value: (r) => r.packets,
      cell: (r) => whole(r.packets),
    },
    {
      key: "digest",
      label: t.digest,
      value: (r) => r.digest,
      cell: (r) => <code>{r.digest}</code>,
    },
  ];
  return (
    <>
      <ul class="assumptions">
        {conclusion?.certainty && <li>{conclusion.certainty}</li>}
        {assumptions.map((a) => (
          <li key={a}>{a}</li>
        ))}
      </ul>
      <DataTable
        caption={t.runs}
        columns={columns}
        rows={outcome.runs}
        rowKey={(r) => `${r.variant} ${r.run}`}
        page={50}
      />
    </>
  );
}
