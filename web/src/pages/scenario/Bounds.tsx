import type { BoundRow, Outcome } from "../../engine/api";
import { useTexts } from "../../texts";
import { type Column, DataTable } from "../../ui/DataTable";
import { ceiling } from "../../ui/format";

/** What the delays of classes cannot exceed. */
export function Bounds({ outcome }: { outcome: Outcome }) {
  const t = useTexts().scenario;
  const columns: Column<BoundRow>[] = [
    { key: "variant", label: t.variant, value: (b) => b.variant || t.asWritten },
    { key: "class", label: t.class, value: (b) => b.class },
    {
      key: "owd",
      label: t.bound,
      numeric: true,
      value: (b) => b.owd,
      cell: (b) => (b.owd === null ? t.noBound : `≤ ${ceiling(b.owd, "s")}`),
    },
    {
      key: "lossless",
      label: t.loss,
      value: (b) => (b.lossless ? t.lossless : t.lossy),
    },
    { key: "why", label: t.why, value: (b) => b.why },
  ];
  return (
    <>
      <p class="note-line">{t.boundsNote}</p>
      <DataTable
        caption={t.views.bounds}
        quiet
        columns={columns}
        rows={outcome.bounds}
        rowKey={(b) => `${b.variant} ${b.class}`}
      />
    </>
  );
}
