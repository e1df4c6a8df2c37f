import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JsonSchema, Options, Project } from "../../engine/api";
import { useEngine } from "../../engine/context";
import { ShareButtons } from "../../share/ShareButtons";
import { useTexts } from "../../texts";
import type { EditorHandle } from "../../ui/Editor";
import { Select } from "../../ui/Field";
import { FileDrop } from "../../ui/FileDrop";
import type { Problem } from "../../ui/Problems";
import { aside, type Draft, keep, opened, setAside, withFiles } from "./draft";
import { examples, isExample } from "./examples";
import { Files } from "./Files";
import { Results } from "./Results";
import { RunBar } from "./RunBar";
import { Status } from "./Status";
import { useCheck } from "./useCheck";
import { useRun } from "./useRun";

/** While one writes, so long passes without anything being kept. */
const PAUSE = 400;

const BEFORE = "before";

/** The workbench: what is written at the left, what comes of it at the right. */
export function Bench({ first, onDraft }: { first: Draft; onDraft: (draft: Draft) => void }) {
  const t = useTexts().scenario;
  const [project, setProject] = useState<Project>(first.project);
  const [options, setOptions] = useState<Options>(first.options);
  const [file, setFile] = useState(first.project.path);
  const draft = useMemo(() => ({ project, options }), [project, options]);
  const schema = useSchema();
  const check = useCheck(draft);
  const runner = useRun(project, options, check.checked?.description);
  const { handle, go } = usePlaces(project, file, setFile);
  useAutosave(first, draft);
  useEffect(() => onDraft(draft), [draft]);

  // A digest is of what was run, which a shorter run is not as written.
  const ran = runner.ran?.project === project ? runner.ran : undefined;
  const load = (next: Draft) => {
    runner.cancel();
    setAside(draft, next);
    setProject(next.project);
    setOptions(next.options);
    setFile(next.project.path);
  };
  const open = async (files: File[]) => {
    const read = await withFiles({ path: "", files: {} }, files);
    const other = opened(read.files);
    if (other) return load({ project: other, options: {} });
    const name = Object.keys(read.files)[0];
    setProject({ ...project, files: { ...project.files, ...read.files } });
    if (name !== undefined) setFile(name);
  };
  return (
    <div class="bench">
      <h1 class="unseen">{t.title}</h1>
      <section class="bench-left" aria-label={t.editing}>
        <div class="bench-tools">
          <ExampleMenu project={project} onChoose={load} />
          <FileDrop multiple class="bench-open" onFiles={open}>
            {t.open}
          </FileDrop>
        </div>
        <Files
          project={project}
          file={file}
          onFile={setFile}
          onProject={setProject}
          schema={schema}
          problems={check.problems}
          handle={handle}
        />
        <Status check={check} options={options} onOptions={setOptions} onGo={go} />
      </section>
      <section class="bench-right" aria-label={t.results}>
        <div class="bench-actions">
          <RunBar
            runner={runner}
            options={options}
            description={check.checked?.description}
            ready={check.checked !== null && !check.stale}
          />
          <ShareButtons
            project={project}
            options={ran?.options ?? options}
            digest={ran?.outcome.runs[0]?.digest}
          />
        </div>
        <Results
          ran={runner.ran}
          current={ran !== undefined}
          running={runner.stage.at === "running"}
          findings={check.checked && check.problems}
          onGo={go}
        />
      </section>
    </div>
  );
}

/** Examples, and what was written before one of them, a link or a file took its place. */
function ExampleMenu(props: { project: Project; onChoose: (draft: Draft) => void }) {
  const t = useTexts().scenario;
  const before = useMemo(aside, [props.project]);
  const names = Object.keys(examples).filter(isExample);
  const shown = names.find((n) => examples[n] === props.project);
  return (
    <Select
      label={t.example}
      quiet
      value={shown ?? ""}
      choices={[
        { value: "", label: shown ? t.examples.none : t.examples.own },
        ...(before ? [{ value: BEFORE, label: t.examples.before }] : []),
        ...names.map((value) => ({ value, label: t.examples[value] })),
      ].filter((c) => c.value !== "" || !shown)}
      onChange={(value) => {
        if (value === BEFORE && before) props.onChoose(before);
        if (isExample(value)) props.onChoose({ project: examples[value], options: {} });
      }}
    />
  );
}

function useSchema(): JsonSchema | undefined {
  const engine = useEngine();
  const [schema, setSchema] = useState<JsonSchema>();
  useEffect(() => {
    let wanted = true;
    engine.schema("scenario").then(
      (s) => wanted && setSchema(s),
      // Without it there is no completion; the check says what is wrong with the engine.
      () => undefined,
    );
    return () => {
      wanted = false;
    };
  }, [engine]);
  return schema;
}

/** Keeps what was changed since: not what a link brought, nor what another tab has changed. */
function useAutosave(first: Draft, draft: Draft): void {
  const kept = useRef(first);
  const last = useRef(draft);
  last.current = draft;
  const leave = useCallback(() => {
    const { project, options } = last.current;
    if (project === kept.current.project && options === kept.current.options) return;
    kept.current = last.current;
    keep(last.current);
  }, []);
  useEffect(() => {
    const timer = setTimeout(leave, PAUSE);
    return () => clearTimeout(timer);
  }, [draft]);
  // Whoever leaves within the pause has written it, too.
  useEffect(() => {
    addEventListener("pagehide", leave);
    return () => {
      removeEventListener("pagehide", leave);
      leave();
    };
  }, []);
}

/** Leads to places in files: to another tab first, where it must be. */
function usePlaces(project: Project, file: string, setFile: (file: string) => void) {
  const handle = useRef<EditorHandle | null>(null);
  const [wanted, setWanted] = useState<Problem | null>(null);
  useEffect(() => {
    if (!wanted) return;
    const target = fileOf(project, wanted);
    if (target === undefined) return setWanted(null);
    if (target !== file) return setFile(target);
    handle.current?.go(wanted.line ?? 1, wanted.column ?? 1);
    setWanted(null);
  }, [wanted, file, project, setFile]);
  return { handle, go: setWanted };
}

/** The file of a project that a problem is in. */
export function fileOf(project: Project, { file }: Problem): string | undefined {
  if (file === undefined) return project.path;
  return Object.keys(project.files).find((name) => name === file || file.endsWith(`/${name}`));
}
