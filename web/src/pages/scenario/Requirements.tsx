import type { Outcome, VerdictRow } from "../../engine/api";
import { useTexts } from "../../texts";
import { ceiling } from "../../ui/format";
import { Verdict } from "../../ui/Verdict";

/** What tells one requirement from another. */
function keyOf(v: VerdictRow): string {
  return [v.whose, v.requirement, v.dscp, v.certain].join("\u0000");
}

/** What a class's metric cannot exceed in a variant, whatever happens; null if nothing is known. */
function boundOf({ summary }: Outcome, v: VerdictRow): number | null {
  if (v.cannot_exceed !== null) return v.cannot_exceed;
  if (v.site !== null || v.dscp !== null || v.side === "min") return null;
  const row = summary.find(
    (r) =>
      r.scope === "class" && r.variant === v.variant && r.name === v.class && r.metric === v.metric,
  );
  return row?.bound ?? null;
}

/** Requirements by row, variants by column. */
export function Requirements({ outcome }: { outcome: Outcome }) {
  const t = useTexts().scenario;
  const { verdicts } = outcome;
  const { variants } = outcome.description;
  if (verdicts.length === 0) return <p class="results-none">{t.noRequirements}</p>;
  const rows = new Map<string, Map<string, VerdictRow>>();
  for (const v of verdicts) {
    const row = rows.get(keyOf(v)) ?? new Map<string, VerdictRow>();
    rows.set(keyOf(v), row.set(v.variant, v));
  }
  return (
    <div class="table">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard. */}
      <section class="table-scroll" aria-label={t.views.requirements} tabIndex={0}>
        <table class="requirements">
          <caption class="unseen">{t.views.requirements}</caption>
          <thead>
            <tr>
              <th scope="col">{t.requirement}</th>
              {variants.map((name) => (
                <th key={name} scope="col">
                  {name || t.asWritten}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...rows].map(([key, row]) => (
              <Row key={key} row={row} outcome={outcome} />
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

function Row({ row, outcome }: { row: Map<string, VerdictRow>; outcome: Outcome }) {
  const [one] = row.values();
  if (!one) return null;
  return (
    <tr>
      <th scope="row" title={one.basis ?? one.requirement}>
        <span class="requirements-class">{one.whose}</span> {one.words}
      </th>
      {outcome.description.variants.map((name) => {
        const verdict = row.get(name);
        return (
          <td key={name}>
            {verdict ? <Judged verdict={verdict} bound={boundOf(outcome, verdict)} /> : "–"}
          </td>
        );
      })}
    </tr>
  );
}

/** The verdict, what was measured, and what cannot be exceeded. */
function Judged({ verdict: v, bound }: { verdict: VerdictRow; bound: number | null }) {
  const t = useTexts().scenario;
  return (
    <div title={v.why ?? v.note ?? undefined}>
      <Verdict verdict={v.verdict} said={v.said} />
      <div class="requirements-measured">{v.measured}</div>
      {bound !== null && (
        <div class="requirements-more">{t.cannotExceed(ceiling(bound, v.unit))}</div>
      )}
      {v.advice && <div class="requirements-more">{v.advice}</div>}
      {v.note && <div class="requirements-more">{v.note}</div>}
    </div>
  );
}
