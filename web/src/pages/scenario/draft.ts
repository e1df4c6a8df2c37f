/** What is being written: a scenario with the files it names, kept in the browser. */

import { recall, remember } from "../../app/storage";
import type { Options, Project } from "../../engine/api";
import { NoProject, read, write } from "../../engine/project";
import { examples } from "./examples";

export interface Draft {
  project: Project;
  options: Options;
}

const KEY = "scenario";
const ASIDE = "scenario-before";
/** Longer texts are not kept: browsers refuse them. */
const MOST = 2_000_000;

/** What was written when the page was last open; null if nothing was kept. */
export const recalled = (): Draft | null => readDraft(KEY);

/** What was written before something else took its place; null if nothing did. */
export const aside = (): Draft | null => readDraft(ASIDE);

/** Keeps what was written beside `next`, which takes its place. Examples are there anyhow. */
export function setAside(written: Draft | null, next: Draft): void {
  const given = [next.project, ...Object.values(examples)].map(said);
  if (written && !given.includes(said(written.project))) keep(written, ASIDE);
}

const said = (project: Project) => textOf({ project, options: {} });

function readDraft(key: string): Draft | null {
  const kept = recall(key);
  if (kept === null) return null;
  try {
    const found = read(kept);
    return found && { project: found.project, options: found.options };
  } catch (error) {
    if (error instanceof NoProject) return null;
    throw error;
  }
}

/** Keeps it; whether the browser does. */
export function keep(draft: Draft, key = KEY): boolean {
  const text = textOf(draft);
  return text.length <= MOST && remember(key, text);
}

function textOf({ project, options }: Draft): string {
  return write({ kind: "scenario", project, platform: "ios", options });
}

/** A project with another text in one of its files. */
export function withText(project: Project, file: string, text: string): Project {
  return { ...project, files: { ...project.files, [file]: text } };
}

/** A project with files more; a scenario takes the place of the scenario if there is one only. */
export async function withFiles(project: Project, files: readonly File[]): Promise<Project> {
  const read = await Promise.all(files.map(async (f) => [f.name, await contentOf(f)] as const));
  return { ...project, files: { ...project.files, ...Object.fromEntries(read) } };
}

/** A text where it is one, else the bytes. */
async function contentOf(file: File): Promise<string | Uint8Array> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes.includes(0)) return bytes;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return bytes;
  }
}

/** A project of one scenario that was opened, with the files that came with it. */
export function opened(files: Project["files"]): Project | null {
  const path = Object.keys(files).find((name) => /\.ya?ml$/i.test(name));
  return path === undefined ? null : { path, files };
}

export function withoutFile(project: Project, file: string): Project {
  const files = { ...project.files };
  delete files[file];
  return { ...project, files };
}
