import { describe, expect, it } from "vitest";
import { type Handed, NoProject, read, write } from "../../src/engine/project";
import { command } from "../../src/share/command";
import { MOST_CHARACTERS, pack, unpack } from "../../src/share/fragment";

const HOSTILE = "</script><script>alert(1)</script><!--<script>\u2028";

const handed: Handed = {
  kind: "scenario",
  platform: "ios",
  project: { path: HOSTILE, files: { [HOSTILE]: HOSTILE, __proto__x: "", "t.pcap": noise(3000) } },
  options: { set: ["topology.links.up.rate=8 Mb/s"], seed: 7, runs: 2, variant: "fifo" },
};

/** Bytes that no compression shortens, the same each time. */
function noise(length: number): Uint8Array {
  let state = 1;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  });
}

/** What somebody may have packed who did not use this page. */
async function packed(content: BlobPart): Promise<string> {
  const stream = new Blob([content]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return Buffer.from(await new Response(stream).arrayBuffer()).toString("base64url");
}

describe("the document of a project", () => {
  it("comes back as it was written", () => {
    expect(read(write(handed))).toEqual(handed);
  });

  it("cannot end the element that holds it", () => {
    expect(write(handed)).not.toContain("<");
  });

  it("is read as spillgate.lab writes it", () => {
    const text =
      '{"kind": "show", "path": "show.txt", "platform": "xr", ' +
      '"files": {"show.txt": {"text": "Gi0/1"}, "b": {"base64": "/wA="}}}';
    expect(read(text)).toEqual({
      kind: "show",
      project: { path: "show.txt", files: { "show.txt": "Gi0/1", b: Uint8Array.of(255, 0) } },
      platform: "xr",
      options: {},
    });
    expect(read("null")).toBeNull();
  });

  it.each([
    ["{", "it is not JSON"],
    ["7", "it is no object"],
    ["{}", "its kind is none of scenario, config, show"],
    ['{"kind":"scenario"}', "files is no object"],
    ['{"kind":"scenario","files":[]}', "files is no object"],
    ['{"kind":"scenario","files":{"a":{}},"path":"a"}', "a has no content"],
    ['{"kind":"scenario","files":{"a":{"base64":"?"}},"path":"a"}', "a has no content"],
    ['{"kind":"scenario","files":{"a":{"text":""}}}', "path is no text"],
    ['{"kind":"scenario","files":{},"path":"__proto__"}', "its path is none of its files"],
    [
      '{"kind":"scenario","files":{"a":{"text":""}},"path":"a","options":{"seed":-1}}',
      "options.seed is no whole number",
    ],
    [
      '{"kind":"scenario","files":{"a":{"text":""}},"path":"a","options":{"set":[1]}}',
      "options.set is no text",
    ],
  ])("refuses %s", (text, sentence) => {
    expect(() => read(text)).toThrow(new NoProject(sentence));
  });

  it("keeps a file that is named like what every object has", () => {
    const found = read('{"kind":"scenario","files":{"__proto__":{"text":"x"}},"path":"__proto__"}');
    expect(Object.keys(found?.project.files ?? {})).toEqual(["__proto__"]);
    expect(write(found as Handed)).toContain('"__proto__":{"text":"x"}');
  });
});

describe("a link", () => {
  it("brings the project and its options back", async () => {
    const text = await pack(handed);
    expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(await unpack(text ?? "")).toEqual(handed);
  });

  it("is refused where it would be too long", async () => {
    const files = { "a.yaml": "", big: noise(MOST_CHARACTERS) };
    expect(await pack({ ...handed, project: { path: "a.yaml", files } })).toBeNull();
  });

  it.each(["", "%", "a b", "<img>", "A", "AAAA", "____"])("says what is wrong with “%s”", (text) =>
    expect(unpack(text)).rejects.toBeInstanceOf(NoProject),
  );

  it("is refused when any part of it is cut off", async () => {
    const text = (await pack(handed)) ?? "";
    for (const length of [1, 10, text.length - 40, text.length - 1]) {
      await expect(unpack(text.slice(0, length))).rejects.toBeInstanceOf(NoProject);
    }
  });

  it("is refused when it unfolds to more than a page should hold", async () => {
    const bomb = await packed("0".repeat(50_000_000));
    expect(bomb.length).toBeLessThan(100_000);
    await expect(unpack(bomb)).rejects.toThrow("it holds more than a link may");
  });

  it("is refused when it is not text", async () => {
    const text = await packed(Uint8Array.of(0x22, 0xff, 0x22));
    await expect(unpack(text)).rejects.toBeInstanceOf(NoProject);
  });
});

describe("the command", () => {
  it("has every option", () => {
    const project = { path: "a.yaml", files: { "a.yaml": "" } };
    expect(command(project, handed.options)).toBe(
      "spillgate run a.yaml --set 'topology.links.up.rate=8 Mb/s' --seed 7 --runs 2",
    );
  });

  it("runs nothing that a name holds", () => {
    const path = "it's $(rm -rf ~).yaml";
    expect(command({ path, files: {} }, {})).toBe("spillgate run 'it'\\''s $(rm -rf ~).yaml'");
    expect(command({ path: "--out", files: {} }, {})).toBe("spillgate run ./--out");
  });
});
