import { type Column, DataTable } from "../../ui/DataTable";
import { fitting, number, ofDifference, value, withInterval } from "../../ui/format";
import type { Drawn, Spot } from "./draw";
import type { Estimate } from "./statistics";

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

function said({ mean, half }: Estimate, unit: string, difference: boolean): string {
  if (!difference) return withInterval(mean, half, unit);
  const scale = ofDifference(fitting(unit, [mean]));
  return `${number(mean, half, scale.factor, true)} ${scale.unit}`;
}

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
          return found ? said(found, unit, difference) : value(undefined, unit);
        },
      }),
    ),
  ];
  return (
    <DataTable caption={caption} columns={columns} rows={[...names]} rowKey={([x]) => `${x}`} />
  );
}
