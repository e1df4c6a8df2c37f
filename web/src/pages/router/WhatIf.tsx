import { useMemo } from "preact/hooks";
import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { type Column, DataTable } from "../../ui/DataTable";
import { value, withInterval } from "../../ui/format";
import { Problems, problemOfDiagnostic } from "../../ui/Problems";
import { Slider } from "../../ui/Slider";
import type { Range } from "../../ui/stops";
import { Verdict } from "../../ui/Verdict";
import { type Knob, keyOf } from "./ios";
import type { Load } from "./loads";
import { readBytes, readCount, readRate, readTime } from "./quantity";
import { amountOf, type Bench } from "./state";
import { type ClassResult, differs, resultsOf, type Value } from "./verdict";

const text = (x: number, unit: Knob["unit"]) =>
  unit === "%" ? `${Math.round(x)} %` : unit === "ratio" ? String(Math.round(x)) : value(x, unit);

function reads(unit: Knob["unit"]): (typed: string) => number | undefined {
  if (unit === "b/s") return readRate;
  if (unit === "s") return readTime;
  if (unit === "B") return readBytes;
  return (typed) => readCount(typed.replace(/(%|packets|packet)\s*$/, ""));
}

/** From a tenth to what makes sense at most. */
function rangeOf(knob: Knob, line: number): Range {
  switch (knob.unit) {
    case "%":
      return { min: 1, max: 100, along: "linear", whole: true };
    case "ratio":
      return { min: 1, max: Math.max(10, 4 * knob.value), along: "linear", whole: true };
    case "b/s": {
      const min = Math.min(8000, knob.value);
      return { min, max: Math.max(line, 2 * knob.value), along: "log" };
    }
    case "s":
      return { min: 1e-3, max: Math.max(1, 4 * knob.value), along: "log" };
    default:
      return { min: 1, max: Math.max(1000, 4 * knob.value), along: "log", whole: true };
  }
}

function rangeOfLoad(load: Load, line: number): Range {
  const now = amountOf(load);
  return load.kind === "tcp" || load.kind === "calls"
    ? { min: 1, max: Math.max(20, 4 * now), along: "linear", whole: true }
    : { min: now / 20, max: Math.max(line, 2 * now), along: "log" };
}

/** Sliders on the configuration's own numbers and on the loads, and what they change. */
export function WhatIf({ bench }: { bench: Bench }) {
  const t = useTexts().router.whatif;
  const moved = bench.numbers.value.size + bench.amounts.value.size;
  return (
    <div class="whatif">
      <div class="whatif-sliders">
        <Numbers bench={bench} />
        <Amounts bench={bench} />
        {moved > 0 && <Button onClick={() => bench.reset()}>{t.reset}</Button>}
      </div>
      <div class="whatif-results">
        <Compared bench={bench} />
      </div>
    </div>
  );
}

function Numbers({ bench }: { bench: Bench }) {
  const t = useTexts().router.whatif;
  const knobs = bench.knobs.value;
  const several = new Set(knobs.map((k) => k.policy)).size > 1;
  if (knobs.length === 0) return <p class="router-quiet">{t.noNumbers}</p>;
  const groups = new Map<string, Knob[]>();
  for (const k of knobs) {
    const title = several ? `${k.policy} / ${k.cls}` : k.cls;
    groups.set(title, [...(groups.get(title) ?? []), k]);
  }
  return (
    <>
      <h3>{t.numbers}</h3>
      {[...groups].map(([title, list]) => (
        <fieldset key={title} class="whatif-group">
          <legend>{title}</legend>
          {list.map((k) => {
            const key = keyOf(k);
            return (
              <Slider
                key={key}
                label={k.command}
                hint={t.line(k.line)}
                value={bench.numbers.value.get(key) ?? k.value}
                range={rangeOf(k, bench.rate.value)}
                text={(x) => text(x, k.unit)}
                parse={reads(k.unit)}
                onInput={(x) => bench.turn(key, x, k.value)}
              />
            );
          })}
        </fieldset>
      ))}
    </>
  );
}

function Amounts({ bench }: { bench: Bench }) {
  const t = useTexts().router.whatif;
  const loads = bench.loads.value.filter((l) => l.kind !== "none");
  return (
    <>
      <h3>{t.loads}</h3>
      <div class="whatif-group">
        {loads.map((l) => {
          const counted = l.kind === "tcp" || l.kind === "calls";
          return (
            <Slider
              key={l.name}
              label={t.of(l.name, l.kind)}
              value={bench.amounts.value.get(l.name) ?? amountOf(l)}
              range={rangeOfLoad(l, bench.rate.value)}
              text={(x) => (counted ? String(Math.round(x)) : value(x, "b/s"))}
              parse={counted ? readCount : readRate}
              onInput={(x) => bench.load(l.name, x, amountOf(l))}
            />
          );
        })}
      </div>
    </>
  );
}

interface Pair {
  name: string;
  old: ClassResult;
  now: ClassResult | undefined;
}

function Compared({ bench }: { bench: Bench }) {
  const t = useTexts().router.whatif;
  const base = bench.base.value;
  const tried = bench.tried.value;
  const pairs = useMemo(() => {
    if (base === null) return [];
    const now = tried ? resultsOf(tried.outcome, tried.setup.loads) : [];
    return resultsOf(base.outcome, base.setup.loads).map(
      (old): Pair => ({ name: old.name, old, now: now.find((n) => n.name === old.name) }),
    );
  }, [base, tried]);
  const going = bench.trying.value;
  const state =
    going !== null
      ? t.running(going.progress?.fraction ?? 0)
      : tried !== null
        ? t.done(tried.outcome.seconds.toFixed(2))
        : base === null
          ? t.runFirst
          : t.idle;
  return (
    <>
      <p class="router-quiet" role="status">
        {state}
      </p>
      {bench.tryProblems.value.length > 0 && (
        <Problems label={t.refused} problems={bench.tryProblems.value.map(problemOfDiagnostic)} />
      )}
      {pairs.length > 0 && (
        <DataTable
          caption={t.compared}
          quiet
          columns={useColumns()}
          rows={pairs}
          rowKey={(p) => p.name}
        />
      )}
    </>
  );
}

function useColumns(): Column<Pair>[] {
  const t = useTexts().router.whatif;
  const r = useTexts().router.results;
  const metric = (key: "mean" | "p99" | "loss" | "throughput", label: string, unit: string) => ({
    key,
    label,
    numeric: true,
    value: (p: Pair) => (p.now ?? p.old)[key].mean,
    cell: (p: Pair) => <Change old={p.old[key]} now={p.now?.[key]} unit={unit} />,
  });
  return [
    {
      key: "name",
      label: r.cls,
      value: (p) => p.name,
      cell: (p) => <strong class="class-name">{p.name}</strong>,
    },
    {
      key: "verdict",
      label: r.verdict,
      value: (p) => (p.now ?? p.old).verdict,
      cell: (p) => (
        <span class="change">
          {p.now && p.now.verdict !== p.old.verdict && (
            <>
              <span class="change-old">
                <Said verdict={p.old.verdict} />
              </span>
              <span class="unseen">{t.becomes}</span>
            </>
          )}
          <Said verdict={(p.now ?? p.old).verdict} />
        </span>
      ),
    },
    metric("mean", r.mean, "s"),
    metric("p99", r.p99, "s"),
    metric("loss", r.loss, "1"),
    metric("throughput", r.throughput, "b/s"),
  ];
}

function Said({ verdict }: { verdict: ClassResult["verdict"] }) {
  const r = useTexts().router.results;
  return verdict === null ? r.nothing : <Verdict verdict={verdict} />;
}

/** A value before and after; an arrow says where it went if that is sure. */
function Change({ old, now, unit }: { old: Value; now: Value | undefined; unit: string }) {
  const t = useTexts().router.whatif;
  if (now === undefined) return <>{withInterval(old.mean, old.half, unit)}</>;
  const sure = differs(old, now);
  const up = (now.mean ?? 0) > (old.mean ?? 0);
  return (
    <span class="change" title={sure ? undefined : t.notSure}>
      <span class="change-old">{withInterval(old.mean, old.half, unit)}</span>
      <span class="unseen">{t.becomes}</span>
      <span class={sure ? "change-now" : undefined}>
        <span aria-hidden="true" class="change-mark">
          {sure ? (up ? "▲" : "▼") : "≈"}
        </span>{" "}
        {withInterval(now.mean, now.half, unit)}
      </span>
    </span>
  );
}
