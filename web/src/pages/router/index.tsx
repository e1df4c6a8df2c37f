import "./router.css";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Catalog } from "../../engine/api";
import { useEngine } from "../../engine/context";
import { handed } from "../../share/handed";
import { useTexts } from "../../texts";
import type { EditorHandle } from "../../ui/Editor";
import { Changes } from "./Changes";
import { Config } from "./Config";
import { Loads } from "./Loads";
import { Picture } from "./Picture";
import { Results } from "./Results";
import { Line, Run } from "./Run";
import { Sending } from "./Sending";
import { Bench } from "./state";
import { Understanding } from "./Understanding";
import { WhatIf } from "./WhatIf";

/** What a page keeps while another one is looked at; gone with the tab. */
let kept: Bench | null = null;

/** The engineer's page: from a router's configuration to a verdict, and back to its lines. */
export function Page() {
  const engine = useEngine();
  const t = useTexts().router;
  const bench = useMemo(() => {
    kept ??= new Bench(engine);
    return kept;
  }, [engine]);
  const [catalog, setCatalog] = useState<Catalog>({});
  const editor = useRef<EditorHandle | null>(null);
  useEffect(() => {
    engine.about().then(
      (about) => setCatalog(about.catalog),
      () => {},
    );
    begin(bench);
  }, [engine]);
  const kinds = (topic: string) =>
    (catalog[topic] ?? []).flatMap((e) =>
      e.kind === undefined ? [] : [{ kind: e.kind, summary: e.summary }],
    );
  const analysis = bench.analysis.value;
  return (
    <div class="router">
      <header class="router-head">
        <h1>{t.title}</h1>
        <p>{t.lead}</p>
      </header>
      <section class="router-top" aria-label={t.steps.config}>
        <Config bench={bench} editor={editor} />
        <Understanding
          bench={bench}
          platforms={kinds("platforms")}
          rules={kinds("rules")}
          onGo={(line, column) => editor.current?.go(line, column)}
        />
      </section>
      {analysis?.target && (
        <>
          <section aria-labelledby="router-policy">
            <h2 id="router-policy">{t.steps.policy}</h2>
            <Picture
              policy={analysis.policy}
              line={bench.rate.value}
              name={analysis.target.iface ?? analysis.target.policy ?? ""}
            />
          </section>
          <section aria-labelledby="router-loads">
            <h2 id="router-loads">{t.steps.loads}</h2>
            <Line bench={bench} />
            <Loads bench={bench} presets={kinds("objectives")} />
            <Run bench={bench} />
          </section>
          {bench.base.value && (
            <section aria-labelledby="router-results">
              <h2 id="router-results">{t.steps.results}</h2>
              <Results tried={bench.base.value} />
            </section>
          )}
          <section aria-labelledby="router-whatif">
            <h2 id="router-whatif">{t.steps.whatif}</h2>
            <WhatIf bench={bench} />
          </section>
          <section aria-labelledby="router-changes">
            <h2 id="router-changes">{t.steps.changes}</h2>
            <Changes bench={bench} />
            <Sending bench={bench} />
          </section>
        </>
      )}
    </div>
  );
}

/** What was handed to the page from outside, once. */
let begun: unknown = null;

function begin(bench: Bench): void {
  const given = handed("config", "show");
  if (given === null || given === begun) return;
  begun = given;
  bench.platform.value = given.platform;
  for (const [name, content] of Object.entries(given.project.files))
    if (typeof content === "string") void bench.take(name, content);
}
