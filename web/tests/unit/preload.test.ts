// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Preload, preload, read, SLOT, write } from "../../src/share/preload";

const HOSTILE = "</script><script>alert(1)</script><!--<script>\u2028";

const project: Preload = {
  kind: "scenario",
  path: HOSTILE,
  platform: "ios",
  files: { [HOSTILE]: HOSTILE, "t.pcap": new Uint8Array(100_000).map((_, i) => i) },
};

afterEach(() => {
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

describe("what a page opens with", () => {
  it("comes back as it was written", () => {
    expect(read(write(project))).toEqual(project);
  });

  it("cannot end the element that holds it", () => {
    expect(write(project)).not.toMatch(/[<\u2028]/);
  });

  it("is read as spillgate.lab writes it", () => {
    const found = read(
      '{"kind": "show", "path": "show.txt", "platform": "xr", ' +
        '"files": {"show.txt": {"text": "Gi0/1"}, "b": {"base64": "/wA="}}}',
    );
    expect(found).toEqual({
      kind: "show",
      path: "show.txt",
      platform: "xr",
      files: { "show.txt": "Gi0/1", b: Uint8Array.of(255, 0) },
    });
  });

  it("is in the page that stands alone, which asks no server", async () => {
    const asked = vi.fn();
    vi.stubGlobal("fetch", asked);
    const slot = document.createElement("script");
    slot.id = SLOT;
    slot.type = "application/json";
    slot.textContent = "null";
    document.body.append(slot);
    expect(await preload()).toBeUndefined();
    slot.textContent = write(project);
    expect((await preload())?.path).toBe(HOSTILE);
    expect(asked).not.toHaveBeenCalled();
  });

  it("comes from the server of the page otherwise", async () => {
    vi.stubGlobal("fetch", async () => new Response(write(project)));
    expect((await preload())?.kind).toBe("scenario");
    vi.stubGlobal("fetch", async () => new Response("null"));
    expect(await preload()).toBeUndefined();
    expect(await preload(null)).toBeUndefined();
  });
});
