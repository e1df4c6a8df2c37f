import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { inBrowser, type Opened } from "./browser";
import { serious, wider } from "./looks";

/** The figures of papers: drawn as they run, by settings, until they are stopped. */

interface Paper {
  name: string;
  /** Means that are drawn. */
  marks: number;
  /** What is run of it at first. */
  points: number;
  /** A slider, and settings that are all others than at the start. */
  slider: string;
  others: string;
}

const PAPERS: Paper[] = [
  {
    name: "mitroi",
    marks: 16,
    points: 8,
    slider: "Limit of FIFO",
    others: "start=order&load=98&limit=300",
  },
  {
    name: "domzal",
    marks: 5,
    points: 5,
    slider: "Elastic flows",
    others: "mechanism=RAEF&trigger=admitted&flows=100",
  },
  {
    name: "shrivastav",
    marks: 30,
    points: 15,
    slider: "Sessions in 100 s",
    others: "nu=0.125&sessions=400&fabric=crossbar",
  },
  {
    name: "chien",
    marks: 15,
    points: 10,
    slider: "Best-effort connections",
    others: "fixed=70&highest=100&flows=6",
  },
  {
    name: "zheng",
    marks: 0,
    points: 2,
    slider: "RED: max_p",
    others: "weight=0.002&max_p=0.02&contract=UBR",
  },
];

/** Machines of tests may be slow, and busy. */
const LONG = 180_000;

const status = (page: Page) => page.getByRole("main").getByRole("status").first();

async function done({ page }: Opened): Promise<string> {
  let said = "";
  const read = async () => {
    said = (await status(page).textContent()) ?? "";
    return said;
  };
  // What is said when it is over, and not a moment later.
  await expect.poll(read, { timeout: LONG, interval: 50 }).toMatch(/points?, simulated|run failed/);
  return said;
}

/** Means in the charts. */
const drawn = (page: Page) => page.locator(".figure-charts .figure-mean").count();

inBrowser("the papers", (open) => {
  it("are five, each with a page", async () => {
    const { page } = await open("#/papers");
    const links = page.locator(".papers-list h2 a");
    expect(await links.count()).toBe(PAPERS.length);
    await links.first().click();
    await page.getByRole("heading", { level: 1, name: "Loss in the customer-edge node" }).waitFor();
    await page.getByRole("link", { name: "All papers" }).click();
    expect(await links.count()).toBe(PAPERS.length);
  });

  it.each(PAPERS)("draw $name, and again by a slider", { timeout: LONG }, async (paper) => {
    const opened = await open(`#/papers/${paper.name}`);
    const { page } = opened;
    const said = await done(opened);
    console.log(`${paper.name}: ${said} (asked: under 5 s on a machine that does nothing else)`);
    expect(said).toContain(`${paper.points} points`);
    expect(await drawn(page)).toBe(paper.marks);
    if (paper.marks === 0) expect(await page.locator(".figure-charts canvas").count()).toBe(2);
    const here = page.locator(".figure-here");
    expect((await here.allTextContents()).some((text) => /\d/.test(text))).toBe(true);

    await page.getByRole("slider", { name: paper.slider }).press("ArrowLeft");
    await expect.poll(() => page.url()).toMatch(/\/papers\/\w+\?\w+=/);
    await expect.poll(() => status(page).textContent()).toMatch(/^Running/);
    expect(await done(opened)).toContain(`${paper.points} points`);
    expect(await drawn(page)).toBe(paper.marks);
    await page.getByRole("button", { name: "Reset" }).click();
    // What was run before is kept.
    await expect
      .poll(() => status(page).textContent(), { timeout: LONG })
      .toContain("simulated before");
    expect(page.url()).toMatch(/papers\/\w+$/);
  });

  it.each(PAPERS)("take other settings of $name from a link", { timeout: LONG }, async (paper) => {
    const opened = await open(`#/papers/${paper.name}?${paper.others}`);
    expect(await done(opened)).toMatch(/points, simulated/);
    await opened.page.getByRole("button", { name: "Open in the scenario page" }).click();
    await expect.poll(() => opened.page.url()).toContain("#/scenario?s=");
    await opened.page.waitForTimeout(500);
    expect(await opened.page.getByText("brings no scenario").count()).toBe(0);
  });

  it.each(PAPERS)("stop $name when told to, and go on", { timeout: LONG }, async (paper) => {
    const opened = await open(`#/papers/${paper.name}`);
    const { page } = opened;
    await page.getByRole("button", { name: "Cancel" }).click();
    await expect.poll(() => status(page).textContent()).toMatch(/^Cancelled/);
    const at = await drawn(page);
    expect(at < paper.marks || paper.marks === 0).toBe(true);
    await page.waitForTimeout(300);
    expect(await drawn(page)).toBe(at);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    expect(await done(opened)).toContain("points, simulated");
    expect(await drawn(page)).toBe(paper.marks);
  });

  it("say what a name means that is none", async () => {
    const { page } = await open("#/papers/%3Cimg%20src=x%3E");
    await page.getByText("There is no page “papers/<img src=x>”.").waitFor();
  });

  it.each([
    ["light", false],
    ["dark", true],
  ])("fit a phone and can be read by everybody (%s)", { timeout: LONG }, async (_, dark) => {
    const opened = await open("#/papers", { width: 400, dark });
    for (const { name } of PAPERS) {
      await opened.page.evaluate((to) => {
        location.hash = to;
      }, `#/papers/${name}`);
      await opened.page.locator(".figure-charts").waitFor();
      expect([name, await wider(opened.page)]).toEqual([name, 0]);
      expect([name, await serious(opened.page)]).toEqual([name, []]);
    }
  });
});
