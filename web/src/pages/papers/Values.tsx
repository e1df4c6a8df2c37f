import { type Column, DataTable } from "../../ui/DataTable";
import { value } from "../../ui/format";
import { inWords } from "../../ui/words";
import { type Drawn, type Spot, said } from "./draw";

interface Props {
  caption: string;
  unit: string;
  /** Whether values are differences of two. */
  difference?: boolean;
  lines: readonly Drawn[];
  /** The head of the first column. */
  place: string;
  /** What each place is called, by its number. */
  names: ReadonlyMap<number, string>;
}

type Row = readonly [x: number, name: string];

/** What a chart draws, as a table. */
export function Values({ caption, unit, difference = false, lines, place, names }: Props) {
  const at = (l: Drawn, x: number): Spot | undefined => l.spots.find((s) => s.x === x);
  const columns: Column<Row>[] = [
    { key: "place", label: place, value: ([x]) => x, cell: ([, name]) => name },
    ...lines.map(
      (l): Column<Row> => ({
        key: l.name,
        label: l.label,
        numeric: true,
        value: ([x]) => at(l, x)?.value.mean,
        cell: ([x]) => {
          const found = at(l, x)?.value;
          return found ? inWords(said(found, unit, difference)) : value(undefined, unit);
        },
      }),
    ),
  ];
  return (
    <DataTable caption={caption} columns={columns} rows={[...names]} rowKey={([x]) => `${x}`} />
  );
}
