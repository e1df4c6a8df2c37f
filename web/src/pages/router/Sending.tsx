import { useState } from "preact/hooks";
import { go } from "../../app/router";
import { hand } from "../../share/handed";
import { ShareButtons } from "../../share/ShareButtons";
import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { Check } from "../../ui/Field";
import { build, measured } from "./scenario";
import type { Bench } from "./state";

/** The scenario for its own page, and for others once that is allowed. */
export function Sending({ bench }: { bench: Bench }) {
  const t = useTexts().router.sending;
  const [allowed, setAllowed] = useState(false);
  const setup = bench.setup.value;
  if (setup === null || setup.loads.every((l) => l.kind === "none")) return null;
  const changed = bench.changedText.value;
  const project = build({ ...setup, duration: measured(setup).duration }, changed);
  const open = () => {
    hand({ kind: "scenario", project, platform: setup.platform, options: {} });
    go("scenario");
  };
  return (
    <div class="sending">
      <h3>{t.title}</h3>
      <p class="router-row">
        <Button onClick={open}>{t.open}</Button>
        <span class="router-quiet">{changed === setup.text ? t.openNote : t.openBoth}</span>
      </p>
      <Check label={t.allow} checked={allowed} onChange={setAllowed} />
      <p class="router-quiet">{t.off}</p>
      {allowed && (
        <ShareButtons project={project} digest={bench.base.value?.outcome.runs[0]?.digest} />
      )}
    </div>
  );
}
