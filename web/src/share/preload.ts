import type { Project } from "../engine/api";

/** What a page opens with: the file of `spillgate lab FILE`, or what a page was saved with. */
export interface Preload extends Project {
  kind: "scenario" | "config" | "show";
  /** Whose meaning the commands of a configuration have. */
  platform: string;
}

/** The element that holds it in a page that stands alone: data, which is never run. */
export const SLOT = "spillgate-project";

/** Where the server of `spillgate lab` has it. */
export const SERVED = "project.json";

/** As `spillgate.lab.Project.document` writes it. */
interface Written {
  kind: Preload["kind"];
  path: string;
  platform: string;
  files: Record<string, { text: string } | { base64: string }>;
}

/** What the page opens with, if anything: of its own element, or of the server at `from`. */
export async function preload(from: string | null = SERVED): Promise<Preload | undefined> {
  const slot = document.getElementById(SLOT);
  if (slot) return read(slot.textContent ?? "null");
  if (from === null) return undefined;
  const answer = await fetch(from);
  return answer.ok ? read(await answer.text()) : undefined;
}

/** Of the text of the element; throws a `SyntaxError` for what is no JSON. */
export function read(text: string): Preload | undefined {
  const written = JSON.parse(text) as Written | null;
  if (written === null) return undefined;
  const files: Preload["files"] = {};
  for (const [name, content] of Object.entries(written.files)) {
    files[name] = "text" in content ? content.text : bytes(content.base64);
  }
  return { kind: written.kind, path: written.path, platform: written.platform, files };
}

/** The text of the element; nothing in it can end the element, or begin a comment. */
export function write(preload: Preload): string {
  const files: Written["files"] = {};
  for (const [name, content] of Object.entries(preload.files)) {
    files[name] = typeof content === "string" ? { text: content } : { base64: base64(content) };
  }
  const { kind, path, platform } = preload;
  const written: Written = { kind, path, platform, files };
  return JSON.stringify(written).replace(
    /[<\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function bytes(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

function base64(data: Uint8Array): string {
  let text = "";
  // Arguments of a call are limited.
  for (let at = 0; at < data.length; at += 0x8000) {
    text += String.fromCharCode(...data.subarray(at, at + 0x8000));
  }
  return btoa(text);
}
