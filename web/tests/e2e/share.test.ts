import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, it } from "vitest";
import { pack, unpack } from "../../src/share/fragment";
import { inBrowser, type Opened } from "./browser";

/** What is passed on opens with what it was made of. */

const HOSTILE = "# </script><script>globalThis.ran = 1</script><!--<script>";
const given = {
  kind: "scenario" as const,
  project: { path: "mine.yaml", files: { "mine.yaml": `${HOSTILE}\nname: passed on\n` } },
  platform: "ios",
  options: { seed: 7 },
};
const place = async () => `#/scenario?s=${await pack(given)}`;

const folder = mkdtempSync(join(tmpdir(), "spillgate-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function saved({ page }: Opened, name: string): Promise<string> {
  const file = join(folder, name);
  const waiting = page.waitForEvent("download");
  await page.getByRole("button", { name: "One file" }).click();
  const download = await waiting;
  expect(download.suggestedFilename()).toBe("mine-lab.html");
  await download.saveAs(file);
  return pathToFileURL(file).href;
}

async function holds({ page }: Opened): Promise<void> {
  await expect.poll(() => page.locator(".cm-content").textContent()).toContain("name: passed on");
  expect(await page.evaluate(() => "ran" in globalThis)).toBe(false);
}

inBrowser("a page that is passed on", (open) => {
  it("is one file, which can be saved again", async () => {
    const first = await open(await place());
    await holds(first);
    const second = await open("#/scenario", { alone: await saved(first, "first.html") });
    await holds(second);
    const third = await open("#/scenario", { alone: await saved(second, "second.html") });
    await holds(third);
    const asked = third.requests.filter((address) => !/^(blob|data):/.test(address));
    expect(asked).toHaveLength(1);
  });

  it("is a link", async () => {
    const { page } = await open(await place());
    await page.getByRole("button", { name: "Link", exact: true }).click();
    const link = await page.getByRole("dialog").getByRole("textbox").inputValue();
    const packed = link.split("#/scenario?s=")[1] ?? "";
    expect(await unpack(packed)).toEqual(given);
  });

  it("is a command, with the files it needs", async () => {
    const { page } = await open(await place());
    await page.getByRole("button", { name: "Command" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByRole("textbox").inputValue()).toBe("spillgate run mine.yaml --seed 7");
    const waiting = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Save mine.yaml" }).click();
    expect((await waiting).suggestedFilename()).toBe("mine.yaml");
  });

  it("takes the place of another when its link comes into the same page", async () => {
    const opened = await open("#/scenario");
    await opened.page.getByRole("button", { name: "Command" }).waitFor();
    await opened.page.evaluate(
      (to) => {
        location.hash = to;
      },
      await place(),
    );
    await holds(opened);
  });
});
