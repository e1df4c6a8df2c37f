import { useEffect, useMemo, useState } from "preact/hooks";
import { go } from "../../app/router";
import { InputProblem } from "../../engine/api";
import { pack } from "../../share/fragment";
import { ShareButtons } from "../../share/ShareButtons";
import { Button } from "../../ui/Button";
import { Problems, problemOfDiagnostic } from "../../ui/Problems";
import { Charts } from "./Charts";
import { Claims } from "./Claims";
import { Controls } from "./Controls";
import {
  type Figure,
  projectOf,
  readSettings,
  type Settings,
  startOf,
  writeSettings,
} from "./figure";
import { papers } from "./found";
import { lookup, type Runs, useRuns } from "./useRuns";
import { type PapersWords, usePapersWords } from "./words";

/** A figure of a paper with what the paper claims, what came of it, and controls. */
export function FigurePage({ figure, query }: { figure: Figure; query: URLSearchParams }) {
  const t = usePapersWords();
  const words = t.set[figure.name];
  const [settings, set] = useSettings(figure, query);
  const points = useMemo(() => figure.points(settings), [figure, settings]);
  const runs = useRuns(figure, points);
  return (
    <article class="figure-page">
      <header>
        <p class="figure-back">
          <a href="#/papers">{t.all}</a>
        </p>
        <h1>{words.title}</h1>
        <p class="figure-citation">
          {papers[figure.name].citation} {words.figure}.
        </p>
      </header>
      <section>
        <h2>{t.claimed}</h2>
        <p>{words.claim}</p>
      </section>
      <div class="figure-body">
        <section class="figure-settings" aria-labelledby="figure-settings">
          <h2 id="figure-settings">{t.settings}</h2>
          <Controls figure={figure} settings={settings} words={words} t={t} onChange={set} />
          <p class="figure-note">{words.effort}</p>
          <Going runs={runs} t={t} />
        </section>
        <div class="figure-charts">
          <Charts figure={figure} settings={settings} runs={runs} t={t} words={words} />
          <p class="figure-note">{words.marks}</p>
        </div>
      </div>
      <Claims
        figure={figure}
        settings={settings}
        of={lookup(points, runs.of)}
        t={t}
        words={words}
      />
      <section>
        <h2>{t.foundTitle}</h2>
        {words.found.map((paragraph) => (
          <p key={paragraph}>{paragraph}</p>
        ))}
        <p class="figure-note">{t.docs(figure.name)}</p>
      </section>
      <Passing figure={figure} settings={settings} runs={runs} open={t.openScenario} />
    </article>
  );
}

/** The settings, which stand in the address, too. */
function useSettings(figure: Figure, query: URLSearchParams) {
  const asked = query.toString();
  const [settings, setSettings] = useState(() => readSettings(figure, query));
  useEffect(() => setSettings(readSettings(figure, new URLSearchParams(asked))), [figure, asked]);
  const set = (next: Settings) => {
    setSettings(next);
    const written = writeSettings(figure, next);
    const place = `#/papers/${figure.name}${written ? `?${written}` : ""}`;
    history.replaceState(history.state, "", place);
  };
  return [settings, set] as const;
}

/** How far the runs are, and the buttons that stop them and let them go on. */
function Going({ runs, t }: { runs: Runs; t: PapersWords }) {
  const { state, done, all, seconds, problem } = runs;
  const running = state === "running";
  const drawn = Math.floor(done);
  return (
    <div class="figure-going">
      {state !== "done" && <progress aria-label={t.progress} max={all} value={done} />}
      <p class="figure-status" role="status">
        {running && t.running(drawn, all)}
        {state === "cancelled" && t.cancelled(drawn, all)}
        {state === "failed" && t.failed}
        {state === "done" && (seconds > 0 ? t.done(all, seconds.toFixed(1)) : t.kept(all))}
      </p>
      {running ? (
        <Button onClick={runs.cancel}>{t.cancel}</Button>
      ) : (
        state !== "done" && <Button onClick={runs.run}>{t.run}</Button>
      )}
      {state === "failed" && <Failure problem={problem} label={t.failed} />}
    </div>
  );
}

function Failure({ problem, label }: { problem: unknown; label: string }) {
  if (problem instanceof InputProblem) {
    return <Problems label={label} problems={problem.diagnostics.map(problemOfDiagnostic)} />;
  }
  const message = problem instanceof Error ? problem.message : String(problem);
  return <Problems label={label} problems={[{ severity: "error", message }]} />;
}

/** Ways on: to the scenario page, and to others. */
function Passing(props: { figure: Figure; settings: Settings; runs: Runs; open: string }) {
  const { figure, settings, runs, open } = props;
  const project = useMemo(() => projectOf(figure), [figure]);
  const set = [...figure.set(settings)];
  const options = set.length > 0 ? { set } : {};
  const toScenario = async () => {
    const packed = await pack({ kind: "scenario", project, platform: "ios", options });
    if (packed) go(`scenario?s=${packed}`);
  };
  // The digest is of the first point of the scenario, which may not be among those that are shown.
  const [first] = figure.points(startOf(figure));
  const [shown] = figure.points(settings);
  const digest = first?.variant === shown?.variant ? runs.digest : undefined;
  return (
    <div class="figure-passing">
      <Button onClick={toScenario}>{open}</Button>
      <ShareButtons project={project} options={options} digest={digest} />
    </div>
  );
}
