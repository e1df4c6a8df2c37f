import { useState } from "preact/hooks";
import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { type Problem, Problems } from "../../ui/Problems";
import { Tabs } from "../../ui/Tabs";
import { VERDICT_MARKS } from "../../ui/Verdict";
import { Assumptions } from "./Assumptions";
import { Bounds } from "./Bounds";
import { Delays } from "./Delays";
import { Differences } from "./Differences";
import { resultsJson, save, seriesCsv, summaryCsv } from "./download";
import { OverTime } from "./OverTime";
import { Requirements } from "./Requirements";
import { saidOf } from "./Status";
import { Summary } from "./Summary";
import type { Ran } from "./useRun";

interface Props {
  ran: Ran | null;
  /** Whether the results are of what is written now. */
  current: boolean;
  running: boolean;
  /** What is doubtful in what is written; null while that is not known. */
  findings: readonly Problem[] | null;
  onGo: (problem: Problem) => void;
}

type View =
  | "requirements"
  | "summary"
  | "time"
  | "delays"
  | "bounds"
  | "differences"
  | "findings"
  | "assumptions";

/** What came of the run, in several views. */
export function Results({ ran, current, running, findings, onGo }: Props) {
  const t = useTexts().scenario;
  const [chosen, setView] = useState<View>();
  const views: View[] = ran
    ? [
        "requirements",
        "summary",
        "time",
        "delays",
        "bounds",
        ...(ran.outcome.differences.length > 0 ? (["differences"] as const) : []),
        "findings",
        "assumptions",
      ]
    : ["findings"];
  const first = ran && ran.outcome.verdicts.length === 0 ? "summary" : (views[0] ?? "findings");
  const shown = chosen && views.includes(chosen) ? chosen : first;
  return (
    <div class="results">
      {ran ? (
        <Conclusion ran={ran} current={current} />
      ) : (
        !running && <p class="results-none">{t.noResults}</p>
      )}
      <Tabs
        label={t.results}
        active={shown}
        onSelect={(id) => setView(id as View)}
        tabs={views.map((id) => ({
          id,
          label:
            id === "findings" && findings ? `${t.views[id]} (${findings.length})` : t.views[id],
        }))}
      >
        {shown === "findings" || !ran ? (
          <Findings problems={findings} onGo={onGo} />
        ) : (
          <Shown view={shown} ran={ran} />
        )}
      </Tabs>
      {ran && <Downloads ran={ran} />}
    </div>
  );
}

function Shown({ view, ran }: { view: Exclude<View, "findings">; ran: Ran }) {
  const { outcome } = ran;
  switch (view) {
    case "requirements":
      return <Requirements outcome={outcome} />;
    case "summary":
      return <Summary outcome={outcome} />;
    case "time":
      return <OverTime outcome={outcome} />;
    case "delays":
      return <Delays outcome={outcome} />;
    case "bounds":
      return <Bounds outcome={outcome} />;
    case "differences":
      return <Differences outcome={outcome} />;
    case "assumptions":
      return <Assumptions outcome={outcome} />;
  }
}

/** What the verdicts come to, and what else is to be said of the results. */
function Conclusion({ ran, current }: { ran: Ran; current: boolean }) {
  const t = useTexts().scenario;
  const { words, partial } = ran.outcome;
  const { conclusion, remarks } = words;
  const otherwise = saidOf(ran.options);
  return (
    <div class="conclusion">
      {!current && <p class="conclusion-old">{t.old}</p>}
      {partial && <p class="conclusion-old">{t.partial}</p>}
      {otherwise.length > 0 && (
        <p class="conclusion-old">
          {t.overridden}{" "}
          {otherwise.map((s) => (
            <code key={s}>{s} </code>
          ))}
        </p>
      )}
      {conclusion && (
        <>
          <p class={`conclusion-head verdict-${conclusion.verdict}`}>
            <span aria-hidden="true">{VERDICT_MARKS[conclusion.verdict] ?? "–"}</span>{" "}
            {conclusion.headline}
          </p>
          <p class="conclusion-tally">{conclusion.tally}</p>
        </>
      )}
      {remarks.length > 0 && (
        <ul class="conclusion-remarks">
          {remarks.map((r) => (
            <li key={r}>{r}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Findings({ problems, onGo }: { problems: Props["findings"]; onGo: Props["onGo"] }) {
  const t = useTexts().scenario;
  if (!problems) return <p class="results-none">{t.findingsLater}</p>;
  if (problems.length === 0) return <p class="results-none">{t.noFindings}</p>;
  return <Problems label={t.views.findings} problems={problems} onGo={onGo} />;
}

function Downloads({ ran }: { ran: Ran }) {
  const t = useTexts().scenario;
  const { outcome, project } = ran;
  const stem = project.path.replace(/^.*\//, "").replace(/\.ya?ml$/i, "");
  return (
    <p class="downloads">
      <span>{t.download}</span>
      <Button
        kind="quiet"
        onClick={() => save(`${stem}-results.json`, "application/json", resultsJson(outcome))}
      >
        JSON
      </Button>
      <Button
        kind="quiet"
        onClick={() => save(`${stem}-summary.csv`, "text/csv", summaryCsv(outcome.summary))}
      >
        {t.summaryCsv}
      </Button>
      <Button
        kind="quiet"
        onClick={() => save(`${stem}-series.csv`, "text/csv", seriesCsv(outcome.series))}
      >
        {t.seriesCsv}
      </Button>
    </p>
  );
}
