import type { Options } from "../../engine/api";
import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { rough } from "../../ui/format";
import { type Problem, Problems } from "../../ui/Problems";
import type { Verdict } from "./useCheck";

interface Props {
  check: Verdict;
  options: Options;
  onOptions: (options: Options) => void;
  onGo: (problem: Problem) => void;
}

/** What the check says of what is written. */
export function Status({ check, options, onOptions, onGo }: Props) {
  const t = useTexts().scenario;
  const { checked, problems, stale } = check;
  const errors = problems.filter((p) => p.severity === "error");
  const d = checked?.description;
  return (
    <div class="status">
      <p class="status-line" role="status">
        {d && errors.length === 0 && (
          <>
            <span class="status-good" aria-hidden="true">
              ✓
            </span>{" "}
            {t.valid(d.variants.length, d.classes.length, d.flows, d.runs)}{" "}
            {t.memory(rough(checked.memoryBytes, "B"))}
          </>
        )}
        {!stale && errors.length > 0 && (
          <>
            <span class="status-bad" aria-hidden="true">
              ✗
            </span>{" "}
            {t.invalid(errors.length)}
          </>
        )}
        {stale && ` ${t.checking}`}
      </p>
      <Overrides options={options} onOptions={onOptions} />
      {errors.length > 0 && <Problems label={t.problems} problems={errors} onGo={onGo} />}
    </div>
  );
}

/** What options change, as the command line writes it. */
export function saidOf({ set = [], runs, seed, variant }: Options): string[] {
  return [
    ...set.map((s) => `--set ${s}`),
    ...(runs === undefined ? [] : [`--runs ${runs}`]),
    ...(seed === undefined ? [] : [`--seed ${seed}`]),
    ...(variant === undefined ? [] : [variant]),
  ];
}

/** What is run otherwise than it is written. */
function Overrides({ options, onOptions }: Pick<Props, "options" | "onOptions">) {
  const t = useTexts().scenario;
  const said = saidOf(options);
  if (said.length === 0) return null;
  return (
    <p class="status-overrides">
      {t.overridden}{" "}
      {said.map((s) => (
        <code key={s}>{s}</code>
      ))}
      <Button kind="quiet" onClick={() => onOptions({})}>
        {t.asWritten}
      </Button>
    </p>
  );
}
