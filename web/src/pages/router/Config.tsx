import type { MutableRef } from "preact/hooks";
import { useMemo } from "preact/hooks";
import edge from "../../../../examples/voice-edge/edge.cfg?raw";
import show from "../../../../examples/voice-edge/show.txt?raw";
import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { Editor, type EditorHandle } from "../../ui/Editor";
import { FileDrop } from "../../ui/FileDrop";
import { value } from "../../ui/format";
import { type Problem, problemOfDiagnostic } from "../../ui/Problems";
import { isCapture, MOST_TEXT, textOf } from "./files";
import { type Marked, marksOf } from "./marks";
import type { Bench } from "./state";

/** Marks beside lines: more make the editor slow and say nothing. */
const MOST_MARKS = 1000;

function problemOfMark(m: Marked): Problem {
  return { severity: m.severity, message: m.why, line: m.line, column: m.column };
}

/** Where the configuration is pasted, dropped or taken from an example. */
export function Config(props: { bench: Bench; editor: MutableRef<EditorHandle | null> }) {
  const { bench, editor } = props;
  const t = useTexts().router.config;
  const take = async (files: File[]) => {
    for (const file of files) {
      if (await isCapture(file)) await bench.takeCapture(file);
      else if (file.size > MOST_TEXT) bench.refuseText(file);
      else await bench.take(file.name, await textOf(file));
    }
  };
  const example = async () => {
    bench.clear();
    bench.platform.value = "ios-hqf";
    await bench.take("edge.cfg", edge);
    await bench.take("show.txt", show);
  };
  const analysis = bench.analysis.value;
  const tc = analysis?.tc ?? false;
  const refused = bench.problems.value;
  const problems = useMemo(
    () => [
      ...refused.map(problemOfDiagnostic),
      ...(analysis ? marksOf(analysis) : []).slice(0, MOST_MARKS).map(problemOfMark),
    ],
    [analysis, refused],
  );
  return (
    <div class="config">
      <div class="router-row">
        <FileDrop class="config-drop" multiple onFiles={(files) => void take(files)}>
          {t.drop}
        </FileDrop>
        <Button onClick={() => void example()}>{t.example}</Button>
        <Button onClick={() => bench.clear()}>{t.clear}</Button>
      </div>
      <p class="config-privacy">{t.privacy}</p>
      <Editor
        class="config-text"
        label={t.editor}
        text={bench.text.value}
        onChange={(text) => bench.type(text)}
        language={tc ? "text" : "ios"}
        problems={problems}
        handle={editor}
      />
      {bench.text.value === "" && <p class="router-quiet">{t.placeholder}</p>}
      <Beside bench={bench} />
    </div>
  );
}

/** What was given beside the configuration. */
function Beside({ bench }: { bench: Bench }) {
  const t = useTexts().router.config;
  const show = bench.show.value;
  const capture = bench.capture.value;
  const problem = bench.fileProblem.value;
  return (
    <div role="status">
      <ul class="config-beside">
        {show && (
          <li>
            {t.shown(show.policies.map((p) => `${p.policy} ${p.interface}`).join(", "))}{" "}
            <button type="button" class="link" onClick={() => bench.dropShow()}>
              {t.leaveOut}
            </button>
          </li>
        )}
        {capture && (
          <li>
            {t.captured(capture.file, capture.packets, value(capture.length, "s"))}{" "}
            <button type="button" class="link" onClick={() => bench.dropCapture()}>
              {t.leaveOut}
            </button>
          </li>
        )}
        {problem && (
          <li class="config-wrong">
            ✗{" "}
            {problem.tooLarge
              ? t.tooLarge(problem.name, value(problem.bytes, "B"), value(problem.most, "B"))
              : problem.why}
            {problem.command !== "" && (
              <>
                {" "}
                <code>{problem.command}</code>
              </>
            )}
          </li>
        )}
        {bench.reading.value && <li>{t.reading}</li>}
        {bench.crash.value && <li class="config-wrong">✗ {t.crash(bench.crash.value)}</li>}
      </ul>
    </div>
  );
}
