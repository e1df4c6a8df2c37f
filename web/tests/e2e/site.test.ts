import { readFileSync, statSync } from "node:fs";
import { expect, it } from "vitest";
import { ALONE, inBrowser, type Look, type Opened, SITE } from "./browser";
import { serious, wider } from "./looks";

/** Of the page as a whole, whatever is on it. */

const FORMS = [
  { form: "served", alone: false },
  { form: "alone", alone: true },
];

/** What is loaded before anything can be used. */
const FIRST = ["index.html", "app.js", "app.css", "worker.js", "spillgate.wasm"];

const PLACES = ["#/", "#/watch", "#/lessons", "#/router", "#/scenario", "#/papers", "#/nowhere"];

async function shown({ page }: Opened): Promise<void> {
  await page.locator("main > *").first().waitFor();
}

/** Goes to a place by its link, without loading anything. */
async function visit(opened: Opened, place: string): Promise<void> {
  await opened.page.evaluate((to) => {
    location.hash = to;
  }, place);
  await opened.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  await shown(opened);
}

function isInline(address: string): boolean {
  return address.startsWith("data:") || address.startsWith("blob:");
}

inBrowser("the page", (open) => {
  it("loads in less than 3 MB, compressed", () => {
    const [brotli = 0, gzip = 0] = ["br", "gz"].map((kind) =>
      FIRST.map((name) => statSync(`${SITE}${name}.${kind}`).size).reduce((a, b) => a + b),
    );
    console.log(`first load: ${brotli} B as brotli, ${gzip} B as gzip`);
    expect(brotli).toBeLessThan(3_000_000);
  });

  it.each(["app.js", "spillgate-lab.html"])("has the licenses of others in it (%s)", (name) => {
    const text = readFileSync(`${SITE}${name}`, "utf8");
    for (const whose of ["Jason Miller", "Marijn Haverbeke", "Leon Sorokin", "Eemeli Aro"]) {
      expect(text).toContain(whose);
    }
  });

  it("asks its own server only, and nothing after the load", async () => {
    const opened = await open();
    await opened.page.waitForLoadState("networkidle");
    const asked = opened.requests.filter((address) => !isInline(address));
    const names = asked.map((address) => new URL(address).pathname);
    expect(names.sort()).toEqual([
      "/",
      ...["app.css", "app.js", "project.json", "spillgate.wasm", "worker.js"].map((n) => `/${n}`),
    ]);
    expect(new Set(asked.map((address) => new URL(address).origin)).size).toBe(1);
    const loaded = opened.requests.length;
    for (const place of PLACES) await visit(opened, place);
    await opened.page.waitForLoadState("networkidle");
    expect(opened.requests.slice(loaded).filter((address) => !isInline(address))).toEqual([]);
  });

  it("is one file that asks for nothing at all", async () => {
    const opened = await open("", { alone: true });
    for (const place of PLACES) await visit(opened, place);
    await opened.page.waitForLoadState("networkidle");
    expect(opened.requests.filter((address) => !isInline(address))).toEqual([ALONE]);
  });

  it.each(FORMS)("says what it needs where there is no WebAssembly ($form)", async ({ alone }) => {
    const opened = await open("", {
      alone,
      before: () => Reflect.deleteProperty(globalThis, "WebAssembly"),
    });
    const main = opened.page.getByRole("main");
    await expect.poll(() => main.textContent()).toContain("WebAssembly");
  });

  it.each(FORMS)("says what it needs where there is no script ($form)", ({ alone }) => {
    const text = readFileSync(`${SITE}${alone ? "spillgate-lab" : "index"}.html`, "utf8");
    expect(text).toMatch(/<noscript>[^<]*JavaScript[^<]*WebAssembly[^<]*<\/noscript>/);
  });

  it.each(FORMS)("forbids what is not its own ($form)", async ({ alone }) => {
    const opened = await open("", { alone, faulty: true });
    const tried = await opened.page.evaluate(async () => {
      const forbidden = new Set<string>();
      addEventListener("securitypolicyviolation", (event) =>
        forbidden.add((event as SecurityPolicyViolationEvent).effectiveDirective),
      );
      const script = document.createElement("script");
      script.textContent = "globalThis.ran = true";
      document.body.append(script);
      const image = document.createElement("img");
      image.src = "http://127.0.0.1:9/x.png";
      document.body.append(image);
      const fetched = await fetch("http://127.0.0.1:9/").catch(() => "refused");
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { forbidden: [...forbidden].sort(), fetched, ran: "ran" in globalThis };
    });
    expect(tried).toEqual({
      forbidden: ["connect-src", "img-src", "script-src-elem"],
      fetched: "refused",
      ran: false,
    });
  });

  it("says in its title what it shows", async () => {
    const opened = await open("#/lessons");
    await expect.poll(() => opened.page.title()).toBe("Lessons – Spillgate");
    await visit(opened, "#/nowhere");
    await expect.poll(() => opened.page.title()).toBe("Spillgate");
  });

  it("keeps theme and language", async () => {
    const { page } = await open("", { locale: "de-AT" });
    const root = page.locator("html");
    expect(await root.getAttribute("lang")).toBe("de");
    await page.getByLabel("Farben").selectOption("dark");
    await page.getByLabel("Sprache").selectOption("en");
    await page.reload();
    expect(await page.getByLabel("Theme").inputValue()).toBe("dark");
    expect(await root.getAttribute("lang")).toBe("en");
    expect(await root.getAttribute("data-theme")).toBe("dark");
  });

  it("measures when it can be used on a machine a quarter as fast", async () => {
    const opened = await open("", { motion: true });
    const session = await opened.page.context().newCDPSession(opened.page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    const begin = performance.now();
    await opened.page.reload({ waitUntil: "commit" });
    await shown(opened);
    await opened.page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
    console.log(`interactive after ${(performance.now() - begin).toFixed(0)} ms (asked: 2000)`);
  });
});

inBrowser("a link", (open) => {
  it.each([
    ["cut off", "bZBBT8Mw"],
    ["of other characters", "%3Cimg%20src=x%20onerror=alert(1)%3E"],
    ["empty", ""],
  ])("that is %s gets a sentence, and the page stays usable", async (_, packed) => {
    const opened = await open(`#/scenario?s=${packed}`);
    const alert = opened.page.getByRole("alert").first();
    await expect.poll(() => alert.textContent()).toContain("brings no scenario");
    await alert.getByRole("button").click();
    await visit(opened, "#/watch");
    expect(await opened.page.getByRole("alert").count()).toBe(0);
  });

  it("runs nothing that it brings, and is no wider than the page", async () => {
    const hostile = '"><img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>';
    const files = { [hostile]: { text: hostile }, ["x".repeat(3000)]: { text: "y".repeat(3000) } };
    const text = JSON.stringify({ kind: "scenario", path: hostile, platform: "ios", files });
    const opened = await open(`#/scenario?s=${await link(text)}`, { width: 400 });
    await shown(opened);
    await opened.page.waitForTimeout(500);
    expect(await opened.page.evaluate(() => "ran" in globalThis)).toBe(false);
    expect(await wider(opened.page)).toBe(0);
  });
});

async function link(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return Buffer.from(await new Response(stream).arrayBuffer()).toString("base64url");
}

inBrowser("every place", (open) => {
  it.each<[string, Look]>([
    ["narrow", { width: 400 }],
    ["narrow and dark", { width: 400, dark: true }],
    ["wide", { width: 2560, height: 1440 }],
    ["wide and dark", { width: 2560, height: 1440, dark: true }],
  ])("fits where it is %s", async (_, look) => {
    const opened = await open("", look);
    for (const place of PLACES) {
      await visit(opened, place);
      expect([place, await wider(opened.page)]).toEqual([place, 0]);
    }
  });

  it.each(["light", "dark"])("can be read by everybody (%s)", async (theme) => {
    const opened = await open("", { dark: theme === "dark" });
    for (const place of PLACES) {
      await visit(opened, place);
      expect([place, await serious(opened.page)]).toEqual([place, []]);
    }
  });
});
