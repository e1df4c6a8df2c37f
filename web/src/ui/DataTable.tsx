import "./ui.css";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Button } from "./Button";
import { useWords } from "./words";

export interface Column<Row> {
  key: string;
  label: string;
  /** What it is sorted by; also what is shown unless `cell` says it better. */
  value: (row: Row) => string | number | null | undefined;
  cell?: (row: Row) => ComponentChildren;
  /** Whether it holds numbers, which stand at the right. */
  numeric?: boolean;
  title?: string;
}

export interface Order {
  key: string;
  descending: boolean;
}

interface Props<Row> {
  /** What the table shows. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row, index: number) => string;
  /** Rows shown at first, and added at each wish for more. */
  page?: number;
  /** Whether the caption is only for screen readers. */
  quiet?: boolean;
  class?: string;
}

type Key = string | number | null | undefined;

function isNone(key: Key): key is null | undefined {
  return key === null || key === undefined || Number.isNaN(key);
}

function compare(a: Key, b: Key): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

/** Rows in an order; those whose value is undefined are last whichever way. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: Order | undefined,
): Row[] {
  const column = columns.find((c) => c.key === order?.key);
  if (!column || !order) return [...rows];
  const keyed = rows.map((row) => ({ row, key: column.value(row) }));
  const sign = order.descending ? -1 : 1;
  const defined = keyed.filter((k) => !isNone(k.key));
  defined.sort((a, b) => sign * compare(a.key, b.key));
  return [...defined, ...keyed.filter((k) => isNone(k.key))].map((k) => k.row);
}

function Head<Row>(props: {
  column: Column<Row>;
  order: Order | undefined;
  onOrder: (order: Order | undefined) => void;
}) {
  const { column, order, onOrder } = props;
  const mine = order?.key === column.key ? order : undefined;
  // Up, down, as it was.
  const next = !mine
    ? { key: column.key, descending: false }
    : mine.descending
      ? undefined
      : { key: column.key, descending: true };
  const state = !mine ? "none" : mine.descending ? "descending" : "ascending";
  return (
    <th scope="col" aria-sort={state} class={column.numeric ? "numeric" : undefined}>
      <button type="button" class="table-sort" title={column.title} onClick={() => onOrder(next)}>
        {column.label}
        <span class="table-mark" aria-hidden="true">
          {!mine ? "" : mine.descending ? "▼" : "▲"}
        </span>
      </button>
    </th>
  );
}

/** A table that is sorted by a click on a column's head, and scrolls inside itself. */
export function DataTable<Row>(props: Props<Row>) {
  const { caption, columns, rows, rowKey, page = 200, quiet } = props;
  const words = useWords();
  const [order, setOrder] = useState<Order>();
  const [pages, setPages] = useState(1);
  const ordered = useMemo(() => sorted(rows, columns, order), [rows, columns, order]);
  const shown = ordered.slice(0, pages * page);
  return (
    <div class={`table ${props.class ?? ""}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard. */}
      <section class="table-scroll" aria-label={caption} tabIndex={0}>
        <table>
          <caption class={quiet ? "unseen" : undefined}>{caption}</caption>
          <thead>
            <tr>
              {columns.map((c) => (
                <Head key={c.key} column={c} order={order} onOrder={setOrder} />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, i) => (
              <tr key={rowKey(row, i)}>
                {columns.map((c) => (
                  <td key={c.key} class={c.numeric ? "numeric" : undefined}>
                    {c.cell ? c.cell(row) : c.value(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {shown.length < rows.length && (
        <p class="table-more">
          {words.rowsShown(shown.length, rows.length)}{" "}
          <Button kind="quiet" onClick={() => setPages(pages + 5)}>
            {words.showMore}
          </Button>
        </p>
      )}
    </div>
  );
}
