import { useMemo, useState } from "preact/hooks";
import { go } from "../../app/router";
import type { Options, Project } from "../../engine/api";
import breathing from "../../scenarios/breathing.yaml?raw";
import { pack } from "../../share/fragment";
import { handed } from "../../share/handed";
import { useTexts } from "../../texts";
import { Breathing } from "./Breathing";

const OWN: Project = { path: "breathing.yaml", files: { "breathing.yaml": breathing } };

/** The numbers of our own scenario that have sliders at first, the size of the buffer first. */
const SLIDERS = [
  "policies.FIFO.fifo.limit",
  "topology.links.up.rate",
  "topology.links.backbone.delay",
  "traffic.upload.count",
];

/** Watch a queue breathe: a scenario of ours, or one that was handed over. */
export function Page() {
  const t = useTexts().watch;
  const given = useMemo(() => handed("scenario"), []);
  const project = given?.project ?? OWN;
  const [tooLong, setTooLong] = useState(false);
  const open = async (options: Options) => {
    const packed = await pack({ kind: "scenario", project, platform: "ios", options });
    if (packed === null) {
      setTooLong(true);
    } else {
      go(`scenario?s=${packed}`);
    }
  };
  return (
    <div class="watch-page">
      <header class="watch-intro">
        <h1>{t.title}</h1>
        <p>{t.lead}</p>
      </header>
      <Breathing
        project={project}
        wholePage
        {...(given
          ? { options: given.options }
          : { second: { variant: "FQ-CoDel" }, sliders: SLIDERS })}
        onOpen={open}
      />
      {tooLong && <p role="alert">{t.tooLong}</p>}
    </div>
  );
}
