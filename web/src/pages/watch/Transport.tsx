import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { type Clock, FASTEST, SLOWEST } from "./clock";
import { speedInWords, timeInWords } from "./words";

/** Steps of the slider of speed; the last is as fast as it runs. */
const STEPS = 100;

function speedOf(step: number): number {
  return step >= STEPS ? Number.POSITIVE_INFINITY : SLOWEST * (FASTEST / SLOWEST) ** (step / STEPS);
}

function stepOf(speed: number): number {
  return Number.isFinite(speed)
    ? Math.round((STEPS * Math.log(speed / SLOWEST)) / Math.log(FASTEST / SLOWEST))
    : STEPS;
}

interface Props {
  clock: Clock;
  onStep: (by: number) => void;
}

/** Play, step and speed. */
export function Transport({ clock, onStep }: Props) {
  const t = useTexts().watch;
  const playing = clock.playing.value;
  const speed = clock.speed.value;
  const words = Number.isFinite(speed) ? t.times(speedInWords(speed)) : t.asFast;
  return (
    <div class="watch-transport">
      <div class="watch-buttons">
        <Button onClick={() => clock.seek(0)} label={t.toStart} title={t.toStart}>
          <Sign path="M3 2h2v12H3zM14 2v12L6 8z" />
        </Button>
        <Button onClick={() => onStep(-1)} label={t.back} title={t.back}>
          <Sign path="M11 2v12L3 8zM12 2h1.5v12H12z" />
        </Button>
        <Button
          kind="main"
          class="watch-play"
          onClick={() => clock.toggle()}
          title={t.keys}
          label={playing ? t.pause : t.play}
        >
          <Sign path={playing ? "M3 2h4v12H3zM9 2h4v12H9z" : "M4 2l10 6-10 6z"} />
        </Button>
        <Button onClick={() => onStep(1)} label={t.forward} title={t.forward}>
          <Sign path="M5 2v12l8-6zM2.5 2H4v12H2.5z" />
        </Button>
      </div>
      <output class="watch-time" aria-label={t.time} aria-live="off">
        {timeInWords(clock.shown.value)}
      </output>
      <label class="watch-speed">
        <span>{t.speed}</span>
        <input
          type="range"
          min={0}
          max={STEPS}
          value={stepOf(speed)}
          aria-valuetext={words}
          onInput={(event) => {
            clock.speed.value = speedOf(event.currentTarget.valueAsNumber);
          }}
        />
        <span class="watch-speed-words">{words}</span>
      </label>
    </div>
  );
}

function Sign({ path }: { path: string }) {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={path} fill="currentColor" />
    </svg>
  );
}
