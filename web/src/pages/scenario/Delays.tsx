import { useMemo, useState } from "preact/hooks";
import type { Outcome } from "../../engine/api";
import { useTexts } from "../../texts";
import { CdfChart, type Delays as Curve, type Mark } from "../../ui/CdfChart";
import { paint, paints } from "../../ui/colors";
import { Select } from "../../ui/Field";
import { ceiling } from "../../ui/format";

/** The share above a percentile: 0.01 of `owd_p99`; none of a maximum. */
export function shareOf(metric: string): number | undefined | null {
  if (metric === "owd_max") return undefined;
  const digits = /^owd_p(\d{2,})$/.exec(metric)?.[1];
  if (!digits) return null;
  // p99, p999 and p9999 are 99 %, 99.9 % and 99.99 %.
  return Number((1 - Number(`0.${digits}`)).toPrecision(6));
}

/** Requirements and bounds on the delays of a class, as marks. */
export function marksOf(outcome: Outcome, cls: string, variants: readonly string[]): Mark[] {
  const required = outcome.description.sla.flatMap((r): Mark[] => {
    const share = shareOf(r.metric);
    if (r.class !== cls || r.max === null || share === null || r.site !== null) return [];
    const mark = { name: `${r.class}: ${r.requirement}`, delay: r.max };
    return [share === undefined ? mark : { ...mark, share }];
  });
  const bounds = outcome.bounds.flatMap((b): Mark[] =>
    b.class === cls && b.owd !== null && variants.includes(b.variant)
      ? [{ name: `${cls} ≤ ${ceiling(b.owd, "s")}`, delay: b.owd }]
      : [],
  );
  return [...required, ...bounds];
}

/** How long packets take: all classes of a variant, or a class in all variants. */
export function Delays({ outcome }: { outcome: Outcome }) {
  const t = useTexts().scenario;
  const { distributions, description } = outcome;
  const { variants, classes } = description;
  const choices = [
    ...variants.map((v) => ({
      value: `variant ${v}`,
      label: v || t.asWritten,
      group: t.allOfVariant,
    })),
    ...(variants.length > 1
      ? classes.map((c) => ({ value: `class ${c}`, label: c, group: t.allVariants }))
      : []),
  ];
  const [chosen, choose] = useState(choices[0]?.value ?? "");
  const colors = useMemo(() => paints(classes), [classes]);
  const { curves, marks } = useMemo(() => {
    const name = chosen.replace(/^\w+ /, "");
    if (chosen.startsWith("variant ")) {
      const mine = distributions.filter((d) => d.variant === name);
      return {
        curves: mine.map(
          (d): Curve => ({ ...d, name: d.class, paint: colors.get(d.class) ?? paint(0) }),
        ),
        marks: mine.flatMap((d) =>
          marksOf(outcome, d.class, [name]).map((m) => ({
            ...m,
            paint: colors.get(d.class) ?? paint(0),
          })),
        ),
      };
    }
    const mine = distributions.filter((d) => d.class === name);
    return {
      curves: mine.map(
        (d): Curve => ({
          ...d,
          name: d.variant,
          paint: paint(Math.max(0, variants.indexOf(d.variant))),
        }),
      ),
      marks: marksOf(outcome, name, []),
    };
  }, [outcome, distributions, chosen, colors, variants]);
  return (
    <>
      <div class="filters">
        <Select label={t.shown} value={chosen} choices={choices} onChange={choose} />
      </div>
      <CdfChart title={t.views.delays} curves={curves} marks={marks} height={320} />
      <p class="note-line">{t.delaysNote}</p>
    </>
  );
}
