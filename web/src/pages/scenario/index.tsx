import "./scenario.css";
import { useMemo } from "preact/hooks";
import { handed } from "../../share/handed";
import { Bench } from "./Bench";
import { type Draft, recalled } from "./draft";
import { examples } from "./examples";

/** What was handed over, else what was written before, else an example. */
function begun(): Draft {
  return handed("scenario") ?? recalled() ?? { project: examples.first, options: {} };
}

/** Editor, check, run, results. */
export function Page() {
  const first = useMemo(begun, []);
  return <Bench first={first} />;
}
