import type { Options, Project } from "./api";

/** What kind of file a page is handed: each has a page of its own. */
export type Kind = "scenario" | "config" | "show";

/** What a page begins with: files, what they are, and with which options they are run. */
export interface Handed {
  kind: Kind;
  project: Project;
  /** Whose meaning the commands of a configuration have. */
  platform: string;
  options: Options;
}

/** What the files of a project may have together, in bytes: as `spillgate lab` allows. */
export const MOST_BYTES = 32_000_000;

/** A document that says no project; the sentence is for the one who made it. */
export class NoProject extends Error {
  override name = "NoProject";
}

/**
 * The document of a project: texts as they are, other files in base64. `spillgate.lab` in Python
 * writes the same. Nothing in it can end an element that holds it, or begin a comment there.
 */
export function write(handed: Handed): string {
  const { kind, project, platform, options } = handed;
  const files = Object.entries(project.files).map(([name, content]) => [
    name,
    typeof content === "string" ? { text: content } : { base64: toBase64(content) },
  ]);
  const document = {
    kind,
    path: project.path,
    platform,
    files: Object.fromEntries(files),
    ...(Object.keys(options).length ? { options } : {}),
  };
  return JSON.stringify(document).replaceAll("<", "\\u003c");
}

/** Reads a document that anybody may have made. `null` is no project. */
export function read(text: string): Handed | null {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw new NoProject("it is not JSON");
  }
  if (document === null) return null;
  const of = record(document, "it");
  const { kind } = of;
  if (kind !== "scenario" && kind !== "config" && kind !== "show") {
    throw new NoProject("its kind is none of scenario, config, show");
  }
  const files = Object.entries(record(of.files, "files")).map(
    ([name, content]) => [name, readContent(name, content)] as const,
  );
  const path = string(of.path, "path");
  if (!files.some(([name]) => name === path)) throw new NoProject("its path is none of its files");
  return {
    kind,
    project: { path, files: Object.fromEntries(files) },
    platform: of.platform === undefined ? "ios" : string(of.platform, "platform"),
    options: of.options === undefined ? {} : readOptions(record(of.options, "options")),
  };
}

function readContent(name: string, content: unknown): string | Uint8Array {
  const { text, base64 } = record(content, name);
  if (typeof text === "string") return text;
  try {
    return fromBase64(string(base64, name));
  } catch {
    throw new NoProject(`${name} has no content`);
  }
}

function readOptions(of: Record<string, unknown>): Options {
  const options: Options = {};
  if (of.set !== undefined) {
    if (!Array.isArray(of.set)) throw new NoProject("options.set is no list");
    options.set = of.set.map((each) => string(each, "options.set"));
  }
  if (of.seed !== undefined) options.seed = whole(of.seed, "options.seed");
  if (of.runs !== undefined) options.runs = whole(of.runs, "options.runs");
  if (of.variant !== undefined) options.variant = string(of.variant, "options.variant");
  return options;
}

function record(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new NoProject(`${name} is no object`);
  }
  return value as Record<string, unknown>;
}

function string(value: unknown, name: string): string {
  if (typeof value !== "string") throw new NoProject(`${name} is no text`);
  return value;
}

function whole(value: unknown, name: string): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw new NoProject(`${name} is no whole number`);
  }
  return value;
}

/** Bytes as base64, in pieces that a call's arguments may have. */
export function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x8000) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  }
  return btoa(pieces.join(""));
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
