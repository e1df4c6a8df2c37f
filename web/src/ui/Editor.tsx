import "./ui.css";
import { setDiagnostics } from "@codemirror/lint";
import { Annotation, Compartment, EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import type { MutableRef } from "preact/hooks";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import type { JsonSchema } from "../engine/api";
import { common, type Language, languageOf, marksOf } from "./editor/extensions";
import type { Problem } from "./Problems";
import { useWords } from "./words";

/** What a page can do with an editor. */
export interface EditorHandle {
  /** Puts the cursor at a line and column, both from 1, and the focus into the editor. */
  go: (line: number, column?: number) => void;
}

interface Props {
  /** What the text is, for screen readers. */
  label: string;
  text: string;
  onChange: (text: string) => void;
  language: Language;
  /** For completion and hover in YAML. */
  schema?: JsonSchema | undefined;
  /** What is wrong in this text. */
  problems?: readonly Problem[];
  handle?: MutableRef<EditorHandle | null>;
  readOnly?: boolean;
  class?: string;
}

/** Marks a change that the page made, not the user. */
const byPage = Annotation.define<boolean>();

const NO_PROBLEMS: readonly Problem[] = [];

/** The language by the end of a file's name. */
export function languageFor(file: string): Language {
  if (/\.ya?ml$/i.test(file)) return "yaml";
  return /\.(cfg|conf|ios|txt)$/i.test(file) ? "ios" : "text";
}

/** A text in CodeMirror, with marks where something is wrong. */
export function Editor(props: Props) {
  const { label, text, onChange, language, schema, problems = NO_PROBLEMS, handle } = props;
  const words = useWords().editor;
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const parts = useMemo(() => ({ words: new Compartment(), language: new Compartment() }), []);
  // The editor outlives renderings: it calls what the last one gave.
  const changed = useRef(onChange);
  changed.current = onChange;
  // What was typed and has not come back as `text` yet: it comes later than the next key.
  const echoes = useRef<string[]>([]);
  const readOnly = props.readOnly ?? false;

  // What changes later is reconfigured below.
  useEffect(() => {
    const element = host.current as HTMLDivElement;
    // CodeMirror's styles need a root that takes style sheets made by script: a document would
    // get an element `style`, which the security policy forbids.
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          parts.words.of(common(label, words.phrases)),
          parts.language.of(languageOf(language, schema, words)),
          EditorState.readOnly.of(readOnly),
          EditorView.updateListener.of((update) => {
            const own = update.transactions.some((t) => t.docChanged && !t.annotation(byPage));
            if (!own) return;
            const typed = update.state.doc.toString();
            echoes.current.push(typed);
            changed.current(typed);
          }),
        ],
      }),
    });
    view.current = made;
    return () => {
      view.current = null;
      made.destroy();
    };
  }, [readOnly]);

  useEffect(() => {
    const effects = [
      parts.words.reconfigure(common(label, words.phrases)),
      parts.language.reconfigure(languageOf(language, schema, words)),
    ];
    view.current?.dispatch({ effects });
  }, [label, words, language, schema, parts]);

  useEffect(() => {
    const now = view.current;
    const echo = echoes.current.indexOf(text);
    echoes.current = echo < 0 ? [] : echoes.current.slice(echo + 1);
    if (!now || echo >= 0 || now.state.doc.toString() === text) return;
    now.dispatch({
      changes: { from: 0, to: now.state.doc.length, insert: text },
      annotations: byPage.of(true),
    });
  }, [text]);

  useEffect(() => {
    const now = view.current;
    if (now) now.dispatch(setDiagnostics(now.state, marksOf(now.state.doc, problems)));
  }, [problems]);

  useEffect(() => {
    if (!handle) return;
    handle.current = { go: (line, column) => view.current && go(view.current, line, column) };
    return () => {
      handle.current = null;
    };
  }, [handle]);

  return (
    <div class={`editor ${props.class ?? ""}`}>
      <div ref={host} class="editor-host" aria-describedby={id} />
      <p id={id} class="editor-hint">
        {words.escape}
      </p>
    </div>
  );
}

function go(view: EditorView, line: number, column = 1): void {
  const { doc } = view.state;
  const at = doc.line(Math.min(Math.max(1, line), doc.lines));
  const anchor = Math.min(at.to, at.from + Math.max(0, column - 1));
  view.dispatch({
    selection: { anchor },
    effects: EditorView.scrollIntoView(anchor, { y: "center" }),
  });
  view.focus();
}
