import "./ui.css";
import { useWords } from "./words";

/** Signs of verdicts, as the catalog has them. */
export const VERDICT_MARKS: Readonly<Record<string, string>> = {
  pass: "✓",
  fail: "✗",
  undecided: "?",
};

interface Props {
  /** As results have it: `pass`, `fail`, `undecided`. */
  verdict: string;
  /** As results say it of what is to hold for certain: `proven`, `refuted`. */
  said?: string | undefined;
}

/** A verdict as a sign and a word: never color alone. */
export function Verdict({ verdict, said = verdict }: Props) {
  const words = useWords().verdicts;
  return (
    <span class={`verdict verdict-${verdict}`}>
      <span class="verdict-mark" aria-hidden="true">
        {VERDICT_MARKS[verdict] ?? "–"}
      </span>
      {words[said] ?? said}
    </span>
  );
}
