import { useMemo, useState } from "preact/hooks";
import { go, type Route } from "../../app/router";
import type { Project } from "../../engine/api";
import breathing from "../../scenarios/breathing.yaml?raw";
import { pack } from "../../share/fragment";
import { handed } from "../../share/handed";
import { ShareButtons } from "../../share/ShareButtons";
import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { Breathing, type BreathingProps, type Watched } from "./Breathing";
import { readAlternative, writtenAlternative } from "./mechanisms";

const OWN: Project = { path: "breathing.yaml", files: { "breathing.yaml": breathing } };

/** The numbers of our own scenario that have sliders at first, the size of the buffer first. */
const SLIDERS = [
  "policies.FIFO.fifo.limit",
  "topology.links.up.rate",
  "topology.links.backbone.delay",
  "traffic.upload.count",
];

/** Numbers of another scenario that have sliders at first: the list begins with sizes of buffers. */
const FIRST_SLIDERS = 4;

/** What a link says besides the project: the port, and what stands beside it. */
function fromQuery(query: URLSearchParams): Partial<BreathingProps> {
  const link = query.get("port");
  const beside = query.get("beside");
  return {
    ...(link === null ? {} : { link }),
    ...(beside === null ? {} : { second: readAlternative(beside) }),
  };
}

function placeOf({ link, beside }: Watched): string {
  const query = new URLSearchParams({ port: link });
  if (beside) query.set("beside", writtenAlternative(beside));
  return `watch?${query}`;
}

/** Watch a queue breathe: a scenario of ours, or one that was handed over. */
export function Page({ route }: { route: Route }) {
  const t = useTexts().watch;
  const given = useMemo(() => handed("scenario"), []);
  const project = given?.project ?? OWN;
  const asked = useMemo(() => fromQuery(route.query), [route]);
  const own = given
    ? { options: given.options, firstSliders: FIRST_SLIDERS }
    : { second: { variant: "FQ-CoDel" }, sliders: SLIDERS };
  return (
    <div class="watch-page">
      <header class="watch-intro">
        <h1>{t.title}</h1>
        <p>{t.lead}</p>
      </header>
      <Breathing
        project={project}
        wholePage
        {...own}
        {...asked}
        actions={(watched) => <Actions project={project} watched={watched} />}
      />
    </div>
  );
}

/** What can be done with what is seen. */
function Actions({ project, watched }: { project: Project; watched: Watched }) {
  const t = useTexts().watch;
  const [tooLong, setTooLong] = useState(false);
  const { options, recording } = watched;
  const open = async () => {
    const packed = await pack({ kind: "scenario", project, platform: "ios", options });
    setTooLong(packed === null);
    if (packed !== null) go(`scenario?s=${packed}`);
  };
  return (
    <>
      <Button onClick={open}>{t.openScenario}</Button>
      <ShareButtons
        project={project}
        options={options}
        digest={recording.digest}
        place={placeOf(watched)}
      />
      {tooLong && <p role="alert">{t.tooLong}</p>}
    </>
  );
}
