import "./scenario.css";
import { useMemo } from "preact/hooks";
import type { Handed } from "../../engine/project";
import { handed } from "../../share/handed";
import { Bench } from "./Bench";
import { type Draft, recalled, setAside } from "./draft";
import { examples } from "./examples";

/** What was handed over is taken once: whoever comes back to the page finds what came of it. */
let taken: Handed | null = null;
/** What was there when the page was left: also where the browser keeps nothing. */
let left: Draft | null = null;

/** What was handed over, else what was written before, else an example. */
function begun(): Draft {
  const given = handed("scenario");
  const written = left ?? recalled();
  if (!given || given === taken) return written ?? { project: examples.first, options: {} };
  setAside(written, given);
  taken = given;
  return given;
}

/** Editor, check, run, results. */
export function Page() {
  const first = useMemo(begun, []);
  return (
    <Bench
      first={first}
      onDraft={(draft) => {
        left = draft;
      }}
    />
  );
}
