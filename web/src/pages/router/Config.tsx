import type { RefObject } from "preact";
import edge from "../../../../examples/voice-edge/edge.cfg?raw";
import show from "../../../../examples/voice-edge/show.txt?raw";
import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { FileDrop } from "../../ui/FileDrop";
import { value } from "../../ui/format";
import { isCapture, MOST_TEXT, textOf } from "./files";
import type { Bench } from "./state";

/** Where the configuration is pasted, dropped or taken from an example. */
export function Config(props: { bench: Bench; editor: RefObject<HTMLTextAreaElement> }) {
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
      <textarea
        ref={editor}
        class="config-text"
        aria-label={t.editor}
        spellcheck={false}
        placeholder={t.placeholder}
        value={bench.text.value}
        onInput={(e) => bench.type(e.currentTarget.value)}
      />
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
    <ul class="config-beside" role="status">
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
  );
}
