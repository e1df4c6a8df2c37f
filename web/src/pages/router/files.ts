/** Files that are dropped: which are read, and what is said of those that are not. */

import { MOST_CAPTURE } from "../../engine/api";

/** A text that is read as a configuration, bytes: as the reader allows. */
export const MOST_TEXT = 64 * 1024 * 1024;

/** A file that was not read, and the command that reads it. */
export interface Refused {
  name: string;
  bytes: number;
  tooLarge: boolean;
  /** Bytes that it may have. */
  most: number;
  why: string;
  command: string;
}

/** A capture that was not read. */
export function refusedCapture(file: File, why: string): Refused {
  const tooLarge = file.size > MOST_CAPTURE;
  const command = tooLarge ? `spillgate profile ${shellWord(file.name)}` : "";
  return { name: file.name, bytes: file.size, tooLarge, most: MOST_CAPTURE, why, command };
}

/** A text that is too large. */
export function refusedText(file: File): Refused {
  const command = `spillgate import ${shellWord(file.name)}`;
  return { name: file.name, bytes: file.size, tooLarge: true, most: MOST_TEXT, why: "", command };
}

/** A word as shells take it. */
function shellWord(name: string): string {
  return /^[\w.+-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}

/** First bytes of captures: pcap of both orders and resolutions, and pcapng. */
const CAPTURES = ["a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "0a0d0d0a"];

export async function isCapture(file: Blob): Promise<boolean> {
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  return CAPTURES.includes([...head].map((b) => b.toString(16).padStart(2, "0")).join(""));
}

/** A text that a file holds; bytes that are no UTF-8 are Latin-1, as the reader takes them. */
export async function textOf(file: Blob): Promise<string> {
  const bytes = await file.arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}
