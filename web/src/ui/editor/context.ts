/** Where a position of a YAML text is in its document, while the text is being written. */

import type { Step } from "../schema";

export interface Context {
  /** The steps to the value that is meant: of a key the map in which it stands. */
  steps: Step[];
  /** Nothing in comments and literal texts. */
  want: "key" | "value" | "nothing";
  /** What is written of it before the position. */
  typed: string;
}

const NOTHING: Context = { steps: [], want: "nothing", typed: "" };

type Block =
  | { kind: "map"; indent: number; key: string }
  | { kind: "list"; indent: number; index: number };

type Flow =
  | { kind: "map"; key: string | undefined; token: string }
  | { kind: "list"; index: number; token: string };

const KEY =
  /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#[\]{},&*!|>'"%@`-][^#]*?|-[^\s#][^#]*?)\s*:(?=\s|$)/;

function unquoted(text: string): string {
  const t = text.trim();
  return /^(["']).*\1$/s.test(t) ? t.slice(1, -1) : t;
}

/** Follows a text line by line, and knows where it is. */
class Scanner {
  readonly #blocks: Block[] = [];
  readonly #flows: Flow[] = [];
  /** The quote in which the text is, within braces or brackets. */
  #quote = "";
  /** Lines that are indented more than this belong to a literal text. */
  #literal: number | undefined;

  /** Takes a line, and says what is meant at its end. */
  line(text: string): Context {
    if (this.#flows.length > 0) return this.#flow(text);
    const indent = text.length - text.trimStart().length;
    const blank = text.trim() === "";
    if (this.#literal !== undefined) {
      if (blank || indent > this.#literal) return NOTHING;
      this.#literal = undefined;
    }
    if (blank) return { steps: this.#above(text.length), want: "key", typed: "" };
    if (text.trimStart().startsWith("#")) return NOTHING;
    return this.#block(text, indent);
  }

  /** The steps to the map whose keys begin in a column. */
  #above(column: number): Step[] {
    return this.#blocks.filter((b) => b.indent < column).map(stepOf);
  }

  #block(text: string, indent: number): Context {
    let column = indent;
    let rest = text.slice(indent);
    this.#leave(column, /^-(\s|$)/.test(rest));
    for (let dash = /^-(\s+|$)/.exec(rest); dash; dash = /^-(\s+|$)/.exec(rest)) {
      this.#item(column);
      column += dash[0].length;
      rest = rest.slice(dash[0].length);
    }
    const key = KEY.exec(rest);
    if (!key) {
      if (/^[[{]/.test(rest)) return this.#flow(rest);
      return { steps: this.#above(column), want: "key", typed: rest };
    }
    this.#key(column, unquoted(key[1] ?? ""));
    const value = rest.slice(key[0].length).trimStart();
    if (/^[|>][+-]?\d?\s*(#.*)?$/.test(value)) this.#literal = column;
    if (/^[[{]/.test(value)) return this.#flow(value);
    return { steps: this.#blocks.map(stepOf), want: "value", typed: value };
  }

  /** Leaves what is indented more than a column. */
  #leave(column: number, item: boolean): void {
    for (let top = this.#blocks.at(-1); top; top = this.#blocks.at(-1)) {
      // A list may stand in the column of the key that it belongs to.
      const ended = top.indent > column || (top.indent === column && top.kind === "list" && !item);
      if (!ended) return;
      this.#blocks.pop();
    }
  }

  #item(column: number): void {
    const top = this.#blocks.at(-1);
    if (top?.kind === "list" && top.indent === column) top.index += 1;
    else this.#blocks.push({ kind: "list", indent: column, index: 0 });
  }

  #key(column: number, key: string): void {
    const top = this.#blocks.at(-1);
    if (top?.kind === "map" && top.indent === column) top.key = key;
    else this.#blocks.push({ kind: "map", indent: column, key });
  }

  #flow(text: string): Context {
    for (let i = 0; i < text.length; i++) {
      const c = text.charAt(i);
      const top = this.#flows.at(-1);
      if (!top && i > 0) break;
      if (c === "#" && this.#quote === "" && /(^|\s)$/.test(text.slice(0, i))) break;
      this.#character(c, top, text.slice(i + 1));
    }
    const top = this.#flows.at(-1);
    const steps = [...this.#blocks.map(stepOf), ...this.#flows.flatMap(flowStep)];
    const typed = top?.token.trimStart() ?? "";
    return { steps, want: top?.kind === "map" && top.key === undefined ? "key" : "value", typed };
  }

  #character(c: string, top: Flow | undefined, after: string): void {
    if (top && this.#quote !== "") {
      top.token += c;
      if (c === this.#quote) this.#quote = "";
    } else if (top && (c === '"' || c === "'") && top.token.trim() === "") {
      top.token += c;
      this.#quote = c;
    } else if (c === "{") {
      this.#flows.push({ kind: "map", key: undefined, token: "" });
    } else if (c === "[") {
      this.#flows.push({ kind: "list", index: 0, token: "" });
    } else if (c === "}" || c === "]") {
      this.#flows.pop();
      const outer = this.#flows.at(-1);
      if (outer) outer.token = "";
    } else if (top && c === ",") {
      top.token = "";
      if (top.kind === "map") top.key = undefined;
      else top.index += 1;
    } else if (top?.kind === "map" && c === ":" && top.key === undefined && /^(\s|$)/.test(after)) {
      top.key = unquoted(top.token);
      top.token = "";
    } else if (top) {
      top.token += c;
    }
  }
}

function stepOf(block: Block): Step {
  return block.kind === "map" ? block.key : block.index;
}

function flowStep(flow: Flow): Step[] {
  if (flow.kind === "list") return [flow.index];
  return flow.key === undefined ? [] : [flow.key];
}

/** What is meant at a position of a YAML text. */
export function contextAt(text: string, position: number): Context {
  const scanner = new Scanner();
  let context: Context = { steps: [], want: "key", typed: "" };
  for (const line of text.slice(0, position).split("\n")) context = scanner.line(line);
  return context;
}
