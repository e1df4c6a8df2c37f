// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { beginAt, route } from "../../src/app/router";
import { type Handed, write } from "../../src/engine/project";
import { beginHanded, handed } from "../../src/share/handed";

function given(kind: Handed["kind"]) {
  const project = { path: "f", files: { f: "text" } };
  return {
    worker: () => {
      throw new Error("nothing is computed");
    },
    module: () => Promise.reject(new Error("nothing is computed")),
    project: write({ kind, project, platform: "ios", options: {} }),
  };
}

beforeEach(() => beginAt(""));

describe("a page that was saved with a project", () => {
  it.each([
    ["scenario", "scenario"],
    ["config", "router"],
    ["show", "router"],
  ] as const)("opens what is for its kind: %s", async (kind, page) => {
    await beginHanded(given(kind));
    expect(route.value.page).toBe(page);
    expect(location.hash).toBe(`#/${page}`);
    expect(handed(kind)?.project.path).toBe("f");
  });

  it("opens what its address says", async () => {
    beginAt("watch");
    await beginHanded(given("scenario"));
    expect(route.value.page).toBe("watch");
  });
});
