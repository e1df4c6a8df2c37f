import { useState } from "preact/hooks";
import type { Finding } from "../../engine/api";
import { useTexts } from "../../texts";
import { Select } from "../../ui/Field";
import { value } from "../../ui/format";
import { Problems, problemOfDiagnostic, SEVERITY_MARKS } from "../../ui/Problems";
import { Tabs } from "../../ui/Tabs";
import type { Analysis, Target } from "./analysis";
import { Coded } from "./Coded";
import { type Marked, marksOf } from "./marks";
import type { Bench } from "./state";

const keyOf = (t: Target) => JSON.stringify([t.iface ?? null, t.policy ?? null]);

type Go = (line: number, column?: number) => void;

/** An entry of the catalog. */
interface Named {
  kind: string;
  summary: string;
}

/** What was understood, for which platform and interface, and what is wrong. */
export function Understanding(props: {
  bench: Bench;
  platforms: readonly Named[];
  rules: readonly Named[];
  onGo: Go;
}) {
  const { bench, platforms, rules, onGo } = props;
  const t = useTexts().router.understood;
  const a = bench.analysis.value;
  return (
    <div class="understood">
      <div class="understood-choices">
        <Select
          label={t.platform}
          value={bench.platform.value}
          choices={platforms.map((p) => ({ value: p.kind, label: `${p.kind}: ${p.summary}` }))}
          onChange={(p) => bench.setPlatform(p)}
          disabled={a?.tc ?? false}
        />
        <Select
          label={t.target}
          value={a?.target ? keyOf(a.target) : ""}
          choices={(a?.targets ?? []).map((target) => ({
            value: keyOf(target),
            label: nameOf(a, target, t),
          }))}
          onChange={(key) => {
            const found = a?.targets.find((x) => keyOf(x) === key);
            if (found) bench.choose(found);
          }}
          disabled={(a?.targets.length ?? 0) === 0}
        />
      </div>
      {a && <Facts analysis={a} />}
      <Lists bench={bench} rules={rules} onGo={onGo} />
    </div>
  );
}

function nameOf(a: Analysis | null, target: Target, t: { noPolicy: string; unattached: string }) {
  if (target.iface === undefined) return `${target.policy} (${t.unattached})`;
  const policy = a?.found.interfaces.find((i) => i.name === target.iface)?.policy;
  return `${target.iface}: ${policy ? policy.name : t.noPolicy}`;
}

function Facts({ analysis }: { analysis: Analysis }) {
  const t = useTexts().router.understood;
  const { iface, target, found } = analysis;
  if (target === null) return <p class="router-notice">{t.nothing}</p>;
  return (
    <dl class="facts">
      {iface && (
        <>
          <dt>{t.rate}</dt>
          <dd>
            {iface.rate === null ? t.unknown : value(iface.rate, "b/s")} ({iface.rate_from})
          </dd>
          {iface.ring && (
            <>
              <dt>{t.ring}</dt>
              <dd>
                <Coded text={`${t.packets(iface.ring.packets)} (${iface.ring.from})`} />
              </dd>
            </>
          )}
          <dt>{t.counts}</dt>
          <dd>
            <Coded text={iface.counts} />
          </dd>
        </>
      )}
      {!iface && (
        <>
          <dt>{t.rate}</dt>
          <dd>{t.noInterface}</dd>
        </>
      )}
      <dt>{t.read}</dt>
      <dd>{t.lines(analysis.text.split("\n").length, analysis.seconds, found.platform.name)}</dd>
    </dl>
  );
}

interface ListsProps {
  bench: Bench;
  rules: readonly Named[];
  onGo: Go;
}

function Lists({ bench, rules, onGo }: ListsProps) {
  const t = useTexts().router.understood;
  const a = bench.analysis.value;
  const [chosen, setChosen] = useState<string>("findings");
  const problems = bench.problems.value;
  if (problems.length > 0)
    return (
      <Problems
        label={t.errors}
        problems={problems.map((d) => ({ ...problemOfDiagnostic(d), file: undefined }))}
        onGo={(p) => p.line !== undefined && onGo(p.line, p.column)}
      />
    );
  if (a === null) return null;
  const marks = marksOf(a);
  const of = (kind: Marked["kind"]) => marks.filter((m) => m.kind === kind);
  const tabs = [
    { id: "findings", label: t.findings(a.findings.length) },
    { id: "warning", label: t.warnings(of("warning").length) },
    { id: "unknown", label: t.unknownLines(of("unknown").length) },
    { id: "idle", label: t.idleLines(of("idle").length) },
  ];
  const active = tabs.find((x) => x.id === chosen)?.id ?? "findings";
  return (
    <Tabs label={t.lists} tabs={tabs} active={active} onSelect={setChosen}>
      <div class="understood-list">
        {active === "findings" ? (
          a.findings.length === 0 ? (
            <p class="router-quiet">{t.noFindings}</p>
          ) : (
            <Findings findings={a.findings} rules={rules} onGo={onGo} />
          )
        ) : (
          <Lines marks={of(active as Marked["kind"])} onGo={onGo} />
        )}
      </div>
    </Tabs>
  );
}

const RANK = { error: 0, warning: 1, note: 2 };

/** What the rules have found: what, why it matters, what to do, and where. */
function Findings(props: { findings: readonly Finding[]; rules: readonly Named[]; onGo: Go }) {
  const t = useTexts().router.understood;
  const words = useTexts().ui.severities;
  const { rules, onGo } = props;
  const ordered = [...props.findings].sort((a, b) => RANK[a.severity] - RANK[b.severity]);
  // The summary of a rule is its name, a sentence and how grave it is.
  const sentence = (id: string) =>
    rules
      .find((r) => r.kind === id)
      ?.summary.replace(/^[\w-]+: /, "")
      .replace(/ \((error|warning|note)\)$/, "");
  return (
    <ul class="problems" aria-label={t.findings(ordered.length)}>
      {ordered.map((f, i) => (
        <li key={i} class={`problem problem-${f.severity}`}>
          <span class="problem-mark" aria-hidden="true">
            {SEVERITY_MARKS[f.severity]}
          </span>
          <div class="problem-body">
            <p class="problem-message">
              <strong>{words[f.severity]}</strong> <Coded text={f.message} />
            </p>
            {sentence(f.id) && <p class="problem-hint">{t.why(sentence(f.id) ?? "")}</p>}
            {f.help && (
              <p class="problem-hint">
                <Coded text={t.todo(f.help)} />
              </p>
            )}
            <p class="problem-place">
              {f.line !== null && (
                <button type="button" class="link" onClick={() => onGo(f.line, f.column)}>
                  {t.line(f.line)}
                </button>
              )}
              <span class="problem-code">{f.id}</span>
            </p>
          </div>
        </li>
      ))}
    </ul>
  );
}

/** The most lines of a list that are shown; a table of tens of thousands helps nobody. */
const MOST = 500;

function Lines({ marks, onGo }: { marks: readonly Marked[]; onGo: Go }) {
  const t = useTexts().router.understood;
  if (marks.length === 0) return <p class="router-quiet">{t.noLines}</p>;
  return (
    <>
      <ul class="router-list">
        {marks.slice(0, MOST).map((m, i) => (
          <li key={i}>
            <button type="button" class="link" onClick={() => onGo(m.line, m.column)}>
              {t.line(m.line)}
            </button>{" "}
            {m.text !== "" && <code>{m.text}</code>} <Coded text={m.why} />
          </li>
        ))}
      </ul>
      {marks.length > MOST && <p class="router-quiet">{t.more(marks.length - MOST)}</p>}
    </>
  );
}
