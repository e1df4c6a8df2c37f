/** Colors for router configurations: commands, numbers, addresses, comments. */

import { StreamLanguage, type StringStream } from "@codemirror/language";

interface State {
  /** Whether a word of the line has been read. */
  begun: boolean;
  /** Whether the line is a remark: what follows is no command. */
  remark: boolean;
}

const DEFINING = new Set([
  "policy-map",
  "class-map",
  "interface",
  "access-list",
  "ip",
  "class",
  "service-policy",
]);

function token(stream: StringStream, state: State): string | null {
  if (stream.sol()) {
    state.begun = false;
    state.remark = false;
  }
  if (stream.eatSpace()) return null;
  if (state.remark || (!state.begun && stream.peek() === "!")) {
    stream.skipToEnd();
    return "comment";
  }
  const word = String((stream.match(/^\S+/) as string[])[0]);
  const first = !state.begun;
  state.begun = true;
  if (word === "description" || word === "remark") state.remark = true;
  if (/^\d+(\.\d+){3}(\/\d+)?$/.test(word)) return "atom";
  if (/^\d+(\.\d+)?%?$/.test(word)) return "number";
  if (first) return DEFINING.has(word) ? "definitionKeyword" : "keyword";
  return null;
}

export const ios = StreamLanguage.define<State>({
  name: "ios",
  startState: () => ({ begun: false, remark: false }),
  token,
  languageData: { commentTokens: { line: "!" } },
});
