import type { Description, Estimate, Options } from "../../engine/api";
import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { general, rough } from "../../ui/format";
import { Problems } from "../../ui/Problems";
import { aboutTime, excess, shorter, shorterOptions } from "./shorter";
import type { Runner } from "./useRun";

interface Props {
  runner: Runner;
  options: Options;
  description: Description | undefined;
  /** Whether what is written can be run. */
  ready: boolean;
}

/** The button that runs, and what becomes of it. */
export function RunBar({ runner, options, description, ready }: Props) {
  const t = useTexts().scenario;
  const { stage } = runner;
  const busy = stage.at === "running" || stage.at === "estimating";
  return (
    <div class="run">
      {busy ? (
        <Button onClick={runner.cancel}>{t.cancel}</Button>
      ) : (
        <Button kind="main" disabled={!ready} onClick={runner.start}>
          {t.run}
        </Button>
      )}
      <div class="run-state" role="status">
        {stage.at === "estimating" && t.estimating}
        {stage.at === "running" && <Going stage={stage} />}
      </div>
      {stage.at === "asking" && description && (
        <Offer
          estimate={stage.estimate}
          runner={runner}
          options={options}
          description={description}
        />
      )}
      {stage.at === "failed" && <Problems label={t.problems} problems={stage.problems} />}
    </div>
  );
}

function Going({ stage }: { stage: Extract<Runner["stage"], { at: "running" }> }) {
  const t = useTexts().scenario;
  const p = stage.progress;
  const left = p && Number.isFinite(p.remaining) ? t.remaining(aboutTime(p.remaining)) : "";
  return (
    <label class="run-going">
      <progress max={1} value={p?.fraction ?? 0} />
      <span>
        {p ? t.runsDone(p.runsDone, p.runs) : t.running} {left}
      </span>
    </label>
  );
}

/** What takes too long for a page, and a shorter run in its place. */
function Offer(props: {
  estimate: Estimate;
  runner: Runner;
  options: Options;
  description: Description;
}) {
  const { estimate, runner, options, description } = props;
  const t = useTexts().scenario;
  const less = shorter(estimate, description);
  const why = excess(estimate);
  const memory = rough(estimate.memoryBytes, "B");
  return (
    <div class="run-offer" role="alert">
      <p>{why === "memory" ? t.tooMuch(memory) : t.tooLong(aboutTime(estimate.seconds), memory)}</p>
      <p class="run-choices">
        <Button kind="main" onClick={() => runner.go(shorterOptions(options, less))}>
          {t.shorter(less.runs, general(less.duration, 6))}
        </Button>
        <Button onClick={() => runner.go(options)}>{t.anyway}</Button>
        <Button kind="quiet" onClick={runner.cancel}>
          {t.never}
        </Button>
      </p>
    </div>
  );
}
