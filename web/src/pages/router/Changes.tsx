import { useState } from "preact/hooks";
import { Crash, type Exported, InputProblem } from "../../engine/api";
import { useEngine } from "../../engine/context";
import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { configFile, rateWords } from "./scenario";
import type { Bench } from "./state";

/** The lines to paste back, and the policy as a whole for another system. */
export function Changes({ bench }: { bench: Bench }) {
  const t = useTexts().router.changes;
  const lines = bench.changes.value;
  return (
    <div class="changes">
      <div>
        <h3>{t.lines}</h3>
        {lines.length === 0 ? (
          <p class="router-quiet">{t.none}</p>
        ) : (
          <>
            <p class="router-quiet">{bench.analysis.value?.tc ? t.howTc : t.how}</p>
            <Text label={t.lines} text={`${lines.join("\n")}\n`} />
          </>
        )}
      </div>
      <Whole bench={bench} />
    </div>
  );
}

function Text({ label, text }: { label: string; text: string }) {
  const t = useTexts().router.changes;
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(t.copied);
    } catch {
      setSaid(t.notCopied);
    }
  };
  return (
    <div class="changes-text">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard. */}
      <section tabIndex={0} aria-label={label}>
        <pre>{text}</pre>
      </section>
      <p>
        <Button onClick={copy}>{t.copy}</Button> <span role="status">{said}</span>
      </p>
    </div>
  );
}

type Written = { to: "ios" | "tc"; exported: Exported } | { failure: string };

function Whole({ bench }: { bench: Bench }) {
  const t = useTexts().router.changes;
  const engine = useEngine();
  const [written, setWritten] = useState<Written>();
  const a = bench.analysis.value;
  const write = async (to: "ios" | "tc") => {
    if (a === null || a.target === null) return;
    const { iface, policy } = a.target;
    try {
      const exported = await engine.exportPolicy(
        { config: configFile(a.tc), text: bench.changedText.value, platform: a.platform },
        to,
        {
          ...(iface !== undefined ? { interface: iface } : {}),
          ...(iface === undefined && policy !== undefined ? { policy } : {}),
          rate: rateWords(bench.rate.value),
        },
      );
      setWritten({ to, exported });
    } catch (error) {
      if (error instanceof InputProblem || error instanceof Crash || error instanceof Error)
        setWritten({ failure: error.message });
    }
  };
  return (
    <div>
      <h3>{t.whole}</h3>
      <p class="router-row">
        <Button onClick={() => void write("ios")}>{t.asIos}</Button>
        <Button onClick={() => void write("tc")}>{t.asTc}</Button>
      </p>
      {written && "failure" in written && <p role="alert">✗ {written.failure}</p>}
      {written && "exported" in written && (
        <>
          <Text label={written.to === "ios" ? t.asIos : t.asTc} text={written.exported.text} />
          {written.exported.notes.length > 0 && (
            <ul class="router-list">
              {written.exported.notes.map((n, i) => (
                <li key={i}>
                  <code>{n.place}</code> {n.reason}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </div>
  );
}
