import { useTexts } from "../../texts";
import { value } from "../../ui/format";
import type { Leaf } from "./classes";
import { dscpName, dscpOf, holds } from "./conditions";
import { Entry } from "./Entry";
import { CODECS, callRate, headerFor, type Kind, type Load, offeredRate } from "./loads";
import { readBytes, readCount, readPercent, readRate, readTime } from "./quantity";
import type { Bench } from "./state";

const KINDS: Kind[] = ["calls", "cbr", "poisson", "tcp", "none"];
const MIXES = ["simple", "cisco", "tester", "standard", "tcp", "ipsec"];

export interface Preset {
  kind: string;
  summary: string;
}

/** What each class is offered, to be changed. */
export function Loads({ bench, presets }: { bench: Bench; presets: readonly Preset[] }) {
  const t = useTexts().router.loads;
  const leaves = bench.analysis.value?.leaves ?? [];
  const rows = bench.loads.value;
  const sum = rows.reduce((all, l) => all + (offeredRate(l) ?? 0), 0);
  const some = rows.some((l) => l.kind === "tcp");
  return (
    <>
      <div class="loads-scroll">
        <table class="loads">
          <caption class="unseen">{t.title}</caption>
          <thead>
            <tr>
              {[t.cls, t.kind, t.amount, t.packet, t.dscp, t.require, t.origin].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row
                key={row.name}
                row={row}
                leaf={leaves.find((l) => l.path.join("\n") === row.path.join("\n"))}
                presets={presets}
                onChange={(change) => bench.edit(row.name, change)}
              />
            ))}
          </tbody>
        </table>
      </div>
      <p class="router-quiet">
        {t.sum(value(sum, "b/s"), value(bench.rate.value, "b/s"))} {some && t.tcp}
      </p>
    </>
  );
}

interface RowProps {
  row: Load;
  leaf: Leaf | undefined;
  presets: readonly Preset[];
  onChange: (change: Partial<Load>) => void;
}

function Row({ row, leaf, presets, onChange }: RowProps) {
  const t = useTexts().router.loads;
  const of = (column: string) => t.of(column, row.name);
  const impossible = leaf?.header === undefined;
  const header = leaf && headerFor("tcp", leaf);
  const kinds: Kind[] = row.fitted ? ["captured", ...KINDS] : KINDS;
  const choose = (kind: Kind) => {
    const found = leaf && headerFor(kind, leaf);
    onChange({ kind, ...(found ? { header: { ...found, dscp: found.dscp } } : {}) });
  };
  return (
    <tr>
      <th scope="row" title={row.path.join(" / ")}>
        {row.name}
      </th>
      <td data-label={t.kind}>
        <select
          class="input select"
          aria-label={of(t.kind)}
          value={row.kind}
          disabled={impossible}
          onChange={(e) => choose(e.currentTarget.value as Kind)}
        >
          {kinds.map((k) => (
            <option key={k} value={k} disabled={k === "tcp" && header === undefined}>
              {t.kinds[k]}
            </option>
          ))}
        </select>
      </td>
      <td data-label={t.amount}>
        {impossible ? (
          t.impossible(leaf?.outline.condition ?? "")
        ) : (
          <Amount row={row} onChange={onChange} />
        )}
      </td>
      <td data-label={t.packet}>
        <Packet row={row} onChange={onChange} />
      </td>
      <td data-label={t.dscp}>
        {row.kind !== "none" && (
          <Entry
            label={of(t.dscp)}
            value={row.header.dscp}
            text={dscpName}
            read={(text) => ofClass(dscpOf(text), row, leaf)}
            valid={t.validDscp(row.name)}
            onChange={(dscp) => onChange({ header: { ...row.header, dscp } })}
          />
        )}
      </td>
      <td data-label={t.require}>
        {row.kind !== "none" && <Required row={row} presets={presets} onChange={onChange} />}
      </td>
      <td data-label={t.origin} class="loads-origin">
        {t.origins[row.origin]}
      </td>
    </tr>
  );
}

/** A code point whose packets the class gets; none if they would be another's. */
function ofClass(dscp: number | undefined, row: Load, leaf: Leaf | undefined): number | undefined {
  if (dscp === undefined || leaf === undefined) return undefined;
  const header = { ...row.header, dscp };
  const mine =
    leaf.wanted.every((c) => holds(c, header) !== false) &&
    leaf.not.every((c) => holds(c, header) !== true);
  return mine ? dscp : undefined;
}

type CellProps = Pick<RowProps, "row" | "onChange">;

function Amount({ row, onChange }: CellProps) {
  const t = useTexts().router.loads;
  const rate = (
    <Entry
      label={t.of(t.rate, row.name)}
      value={row.rate}
      text={(r) => value(r, "b/s")}
      read={readRate}
      valid={t.validRate}
      onChange={(r) => onChange({ rate: r })}
    />
  );
  if (row.kind === "none") return null;
  if (row.kind === "cbr" || row.kind === "poisson" || row.kind === "captured") return rate;
  const label = row.kind === "calls" ? t.callCount : t.connections;
  return (
    <span class="loads-pair">
      <Entry
        label={t.of(label, row.name)}
        value={row.count}
        text={String}
        read={readCount}
        valid={t.validCount}
        onChange={(count) =>
          onChange(row.kind === "calls" ? { count, rate: count * callRate(row.codec) } : { count })
        }
      />
      {row.kind === "calls" ? (
        <select
          class="input select"
          aria-label={t.of(t.codec, row.name)}
          value={row.codec}
          onChange={(e) => {
            const codec = e.currentTarget.value;
            onChange({ codec, rate: row.count * callRate(codec) });
          }}
        >
          {Object.keys(CODECS).map((c) => (
            <option key={c} value={c}>
              {t.codecs[c] ?? c}
            </option>
          ))}
        </select>
      ) : (
        <span class="loads-unit">{t.connectionsUnit}</span>
      )}
    </span>
  );
}

function Packet({ row, onChange }: CellProps) {
  const t = useTexts().router.loads;
  if (row.kind === "calls") return <span class="loads-fixed">{CODECS[row.codec]?.bytes} B</span>;
  if (row.kind === "captured") return <span class="loads-fixed">{t.asCaptured}</span>;
  if (row.kind !== "cbr" && row.kind !== "poisson") return null;
  const mix = typeof row.packet === "string";
  return (
    <span class="loads-pair">
      <select
        class="input select"
        aria-label={t.of(t.packet, row.name)}
        value={mix ? row.packet : "fixed"}
        onChange={(e) => {
          const chosen = e.currentTarget.value;
          onChange({ packet: chosen === "fixed" ? 1000 : chosen });
        }}
      >
        <option value="fixed">{t.fixed}</option>
        {MIXES.map((m) => (
          <option key={m} value={m}>
            {t.mix(m)}
          </option>
        ))}
      </select>
      {!mix && (
        <Entry
          label={t.of(t.bytes, row.name)}
          value={row.packet as number}
          text={(b) => `${b} B`}
          read={readBytes}
          valid={t.validBytes}
          onChange={(packet) => onChange({ packet })}
        />
      )}
    </span>
  );
}

function Required({ row, presets, onChange }: CellProps & { presets: readonly Preset[] }) {
  const t = useTexts().router.loads;
  const summary = presets.find((p) => p.kind === row.require)?.summary;
  return (
    <span class="loads-require">
      <select
        class="input select"
        aria-label={t.of(t.require, row.name)}
        title={summary}
        value={row.require}
        onChange={(e) => onChange({ require: e.currentTarget.value })}
      >
        <option value="">{t.nothing}</option>
        <option value="own">{t.own}</option>
        {presets.map((p) => (
          <option key={p.kind} value={p.kind} title={p.summary}>
            {p.kind}
          </option>
        ))}
      </select>
      {row.require === "own" && (
        <span class="loads-pair">
          <Entry
            label={t.of(t.ownDelay, row.name)}
            value={row.delay}
            text={(s) => `≤ ${value(s, "s")}`}
            read={(text) => readTime(text.replace("≤", ""))}
            valid={t.validTime}
            onChange={(delay) => onChange({ delay })}
          />
          <Entry
            label={t.of(t.ownLoss, row.name)}
            value={row.loss}
            text={(s) => `≤ ${value(s, "1")}`}
            read={(text) => readPercent(text.replace("≤", ""))}
            valid={t.validPercent}
            onChange={(loss) => onChange({ loss })}
          />
        </span>
      )}
    </span>
  );
}
