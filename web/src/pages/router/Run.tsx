import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { Select } from "../../ui/Field";
import { value } from "../../ui/format";
import { Problems, problemOfDiagnostic } from "../../ui/Problems";
import { Entry } from "./Entry";
import { readRate, readTime } from "./quantity";
import { measured } from "./scenario";
import type { Bench } from "./state";

const OVERHEADS = ["", "ethernet", "ethernet ether-vlan", "ethernet-frame", "ppp", "none"];

/** The line itself: rate, delay, what it adds to packets. */
export function Line({ bench }: { bench: Bench }) {
  const t = useTexts().router.line;
  return (
    <div class="router-line">
      <div class="field">
        <span class="field-label">{t.rate}</span>
        <Entry
          label={t.rate}
          value={bench.rate.value}
          text={(r) => value(r, "b/s")}
          read={readRate}
          valid={t.validRate}
          onChange={(rate) => bench.setRate(rate)}
        />
        {bench.rateAssumed.value && <span class="field-hint">{t.assumed}</span>}
      </div>
      <div class="field">
        <span class="field-label">{t.rtt}</span>
        <Entry
          label={t.rtt}
          value={2 * bench.delay.value}
          text={(s) => value(s, "s")}
          read={(text) => {
            const time = readTime(text);
            return time !== undefined && time <= 10 ? time : undefined;
          }}
          valid={t.validTime}
          onChange={(rtt) => {
            bench.delay.value = rtt / 2;
          }}
        />
      </div>
      <Select
        label={t.overhead}
        value={bench.overhead.value}
        choices={OVERHEADS.map((o) => ({ value: o, label: t.overheads[o] ?? o }))}
        onChange={(o) => {
          bench.overhead.value = o;
        }}
      />
      <Select
        label={t.runs}
        value={String(bench.runs.value)}
        choices={[3, 5, 10, 20].map((n) => ({ value: String(n), label: String(n) }))}
        onChange={(n) => {
          bench.runs.value = Number(n);
        }}
      />
    </div>
  );
}

/** Begins and stops the run, and says how far it is. */
export function Run({ bench }: { bench: Bench }) {
  const t = useTexts().router.run;
  const going = bench.going.value;
  const setup = bench.setup.value;
  const none = bench.loads.value.every((l) => l.kind === "none");
  const { duration } = setup ? measured(setup) : { duration: 0 };
  const fraction = going?.progress?.fraction ?? 0;
  return (
    <div class="router-run">
      <div class="router-row">
        {going === null ? (
          <Button kind="main" disabled={none} onClick={() => void bench.run()}>
            {t.run}
          </Button>
        ) : (
          <Button onClick={going.stop}>{t.stop}</Button>
        )}
        {going !== null && <progress max={1} value={fraction} aria-label={t.progress} />}
        <span class="router-quiet" role="status">
          {going !== null
            ? t.going(fraction)
            : none
              ? t.noTraffic
              : bench.stale.value
                ? t.stale
                : t.plan(bench.runs.value, value(duration, "s"))}
        </span>
      </div>
      {bench.runProblems.value.length > 0 && (
        <Problems label={t.refused} problems={bench.runProblems.value.map(problemOfDiagnostic)} />
      )}
    </div>
  );
}
