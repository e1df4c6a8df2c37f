import { type Handed, NoProject, read, write } from "../engine/project";

/** A project in a URL's fragment: its document, deflated, in base64url. */

/** Characters that a link may have: chats and mail programs cut longer ones, or make no link of them. */
export const MOST_CHARACTERS = 30_000;

/** What a link may unfold to, in bytes: a few characters can stand for gigabytes. */
const MOST_UNFOLDED = 4_000_000;

/** The project for a link; `null` if it is too long for one. */
export async function pack(handed: Handed): Promise<string | null> {
  const stream = new Blob([write(handed)])
    .stream()
    .pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  if (bytes.length * (4 / 3) > MOST_CHARACTERS) return null;
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/**
 * The project in a link that anybody may have made.
 *
 * @throws NoProject
 */
export async function unpack(text: string): Promise<Handed> {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) throw new NoProject("it has characters that no link has");
  const bytes = Uint8Array.from(
    decoded(text.replaceAll("-", "+").replaceAll("_", "/")),
    (c) => c.codePointAt(0) ?? 0,
  );
  const found = read(await unfolded(bytes));
  if (!found) throw new NoProject("it is empty");
  return found;
}

function decoded(text: string): string {
  try {
    return atob(text);
  } catch {
    throw new NoProject("its end is missing");
  }
}

async function unfolded(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream("deflate-raw"))
    .getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let size = 0;
  let text = "";
  try {
    for (;;) {
      const { done, value } = await stream.read();
      if (done) return text + decoder.decode();
      size += value.length;
      if (size > MOST_UNFOLDED) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    throw new NoProject("it cannot be unpacked: a part of it is missing or was changed");
  }
  await stream.cancel();
  throw new NoProject("it holds more than a link may");
}
