/** The parts of CodeMirror that the editor is made of. */

import {
  autocompletion,
  type Completion,
  type CompletionSource,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, type Text } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
  tooltips,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { JsonSchema } from "../../engine/api";
import type { Problem } from "../Problems";
import { type Note, noteAt, offers } from "./complete";
import { ios } from "./ios";

export type Language = "yaml" | "ios" | "text";

export interface EditorWords {
  required: string;
  oneOf: string;
}

/** Everything but the language and what belongs to a text. */
export function common(label: string, phrases: Record<string, string>): Extension {
  return [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightActiveLine(),
    // What turns text around, or cannot be seen, must not hide what is written.
    highlightSpecialChars(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightSelectionMatches(),
    search({ top: true }),
    lintGutter(),
    indentUnit.of("  "),
    EditorState.tabSize.of(2),
    EditorState.phrases.of(phrases),
    EditorView.lineWrapping,
    EditorView.domEventHandlers({ beforeinput: replaceSelected }),
    EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    tooltips({ position: "fixed" }),
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...completionKeymap,
      ...lintKeymap,
      // Escape, then Tab leaves the editor: CodeMirror sees to that.
      indentWithTab,
    ]),
    syntaxHighlighting(colors),
    theme,
  ];
}

/**
 * Takes what is typed over a selection from the browser, which would keep the look of what it
 * replaces by an attribute `style`: the security policy of the page forbids those.
 */
function replaceSelected(event: InputEvent, view: EditorView): boolean {
  const { data, inputType } = event;
  const { from, to, empty } = view.state.selection.main;
  if (inputType !== "insertText" || !data || empty || view.composing) return false;
  event.preventDefault();
  const insert = () =>
    view.state.update(view.state.replaceSelection(data), {
      userEvent: "input.type",
      scrollIntoView: true,
    });
  const handlers = view.state.facet(EditorView.inputHandler);
  if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
  return true;
}

/** What a language has: colors, and with a schema completion and hover. */
export function languageOf(
  language: Language,
  schema: JsonSchema | undefined,
  words: EditorWords,
): Extension {
  if (language === "ios") return ios;
  if (language === "text") return [];
  if (!schema) return yaml();
  return [
    yaml(),
    autocompletion({ override: [completion(schema, words)], icons: false }),
    hoverTooltip((view, position) => {
      const note = noteAt(schema, view.state.doc.toString(), position, words);
      if (!note) return null;
      return { pos: note.from, end: note.to, create: () => ({ dom: noteElement(note) }) };
    }),
  ];
}

function completion(schema: JsonSchema, words: EditorWords): CompletionSource {
  return (context) => {
    const text = context.state.doc.toString();
    const found = offers(schema, text, context.pos, words);
    const typed = context.pos > found.from;
    const asked = context.explicit || typed || /[{:,]\s$/.test(text.slice(0, context.pos));
    if (!asked || found.offers.length === 0) return null;
    const options = found.offers.map(
      (o): Completion => ({
        label: o.label,
        apply: o.apply,
        detail: o.detail,
        info: o.info,
        boost: o.required ? 2 : 0,
      }),
    );
    return { from: found.from, options, validFor: /^[\p{L}\p{N}_ ./%-]*$/u };
  };
}

function noteElement(note: Note): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "note";
  const add = (tag: string, text: string) => {
    const element = document.createElement(tag);
    element.textContent = text;
    dom.append(element);
  };
  add("strong", note.title);
  add("p", note.text);
  for (const fact of note.facts) add("p", fact);
  return dom;
}

/** Problems as marks in a text. */
export function marksOf(document: Text, problems: readonly Problem[]): Diagnostic[] {
  return problems.flatMap((p) => {
    if (p.line === undefined || p.line < 1 || p.line > document.lines) return [];
    const line = document.line(p.line);
    const from = Math.min(line.to, line.from + Math.max(0, (p.column ?? 1) - 1));
    const rest = line.text.slice(from - line.from);
    // The word there; of a quantity its unit, too.
    const word = /^[^\s,{}[\]#:]+( [%\p{L}][\p{L}/]*)?/u.exec(rest)?.[0] ?? rest.slice(0, 1);
    const severity = p.severity === "note" ? "info" : p.severity;
    const message = p.hint ? `${p.message}\n${p.hint}` : p.message;
    return [{ from, to: from + word.length, severity, message, ...(p.code && { source: p.code }) }];
  });
}

const colors = HighlightStyle.define([
  { tag: tags.comment, color: "var(--ink-soft)", fontStyle: "italic" },
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--accent)" },
  { tag: [tags.keyword, tags.definitionKeyword], color: "var(--accent)" },
  { tag: tags.definitionKeyword, fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--unsure)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

/** No images: the security policy of the page may forbid them. */
const underline = (color: string) => ({
  backgroundImage: "none",
  textDecoration: `underline wavy ${color} 1px`,
  textDecorationSkipInk: "none",
  textUnderlineOffset: "3px",
});

const mark = (sign: string, color: string) => ({
  content: `"${sign}"`,
  color,
  fontWeight: "700",
  display: "block",
  textAlign: "center",
  lineHeight: "1",
});

const theme = EditorView.theme({
  "&": {
    height: "100%",
    backgroundColor: "var(--paper)",
    color: "var(--ink)",
    fontSize: "0.8125rem",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: "0.5rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": {
    backgroundColor: "var(--paper-sunk)",
    color: "var(--ink-soft)",
    borderRight: "1px solid var(--line)",
  },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 6%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    {
      backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)",
    },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--accent) 14%, transparent)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--unsure) 30%, transparent)" },
  ".cm-searchMatch-selected": {
    backgroundColor: "color-mix(in srgb, var(--unsure) 60%, transparent)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "transparent",
    outline: "1px solid var(--line-strong)",
  },
  ".cm-lintRange-error": underline("var(--bad)"),
  ".cm-lintRange-warning": underline("var(--unsure)"),
  ".cm-lintRange-info": underline("var(--line-strong)"),
  ".cm-gutter-lint": { width: "1.25em" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "0.25em 0 0" },
  ".cm-lint-marker": { width: "1.25em", height: "1em" },
  ".cm-lint-marker-error, .cm-lint-marker-warning, .cm-lint-marker-info": { content: "none" },
  ".cm-lint-marker-error::after": mark("✗", "var(--bad)"),
  ".cm-lint-marker-warning::after": mark("!", "var(--unsure)"),
  ".cm-lint-marker-info::after": mark("i", "var(--ink-soft)"),
  ".cm-tooltip": {
    backgroundColor: "var(--paper)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    maxWidth: "min(32rem, 90vw)",
    fontFamily: "var(--font)",
    fontSize: "0.8125rem",
  },
  ".cm-tooltip.cm-completionInfo": { padding: "0.375rem 0.5rem", width: "min(22rem, 40vw)" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--accent-ink)",
  },
  ".cm-completionDetail": { color: "var(--ink-soft)", fontStyle: "normal" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-diagnostic": { whiteSpace: "pre-wrap", padding: "0.25rem 0.5rem" },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)" },
  ".cm-diagnostic-warning": { borderLeft: "3px solid var(--unsure)" },
  ".cm-diagnostic-info": { borderLeft: "3px solid var(--line-strong)" },
  ".note": { padding: "0.375rem 0.5rem" },
  ".note p": { margin: "0.25rem 0 0" },
  ".cm-panels": {
    backgroundColor: "var(--paper-sunk)",
    color: "var(--ink)",
    fontFamily: "var(--font)",
  },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-textfield, .cm-button": {
    backgroundImage: "none",
    backgroundColor: "var(--paper)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    fontSize: "0.8125rem",
  },
});
