import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import { inBrowser } from "./browser";

/** The engineer's page, the whole way: paste, findings, picture, loads, run, verdict, slider, lines. */

const file = (path: string) => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");
const EDGE = file("../../../examples/voice-edge/edge.cfg");
const SHOW = file("../../../examples/voice-edge/show.txt");

/** Puts a text in place of the editor's, by the clipboard; nothing deletes it. */
async function paste(page: Page, text: string): Promise<void> {
  const editor = page.getByRole("textbox", { name: "Configuration of the router" });
  await editor.click();
  await page.keyboard.press("Control+a");
  if (text === "") return page.keyboard.press("Delete");
  await editor.evaluate((element, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    const event = { clipboardData, bubbles: true, cancelable: true };
    element.dispatchEvent(new ClipboardEvent("paste", event));
  }, text);
}

function drop(page: Page, name: string, content: string | Buffer): Promise<void> {
  const buffer = typeof content === "string" ? Buffer.from(content) : content;
  return page
    .locator(".config-drop input")
    .setInputFiles({ name, mimeType: "application/octet-stream", buffer });
}

/** As `expect.poll`, with patience for a machine that does other things, too. */
const until = <T>(what: () => T | Promise<T>) => expect.poll(what, { timeout: 20_000 });

const run = (page: Page) => page.getByRole("button", { name: "Run", exact: true });

/** The cell of a table by the words of its row and column. */
async function cell(page: Page, table: string, row: string, column: string): Promise<string> {
  const whole = page.getByRole("region", { name: table, exact: true }).locator("table");
  const heads = await whole.locator("thead th").allInnerTexts();
  const at = heads.findIndex((h) => h.trim() === column);
  const line = whole.locator("tbody tr").filter({ has: page.getByText(row, { exact: true }) });
  return (await line.locator("td").nth(at).textContent()) ?? "";
}

vi.setConfig({ testTimeout: 120_000 });

inBrowser("the router page", (open) => {
  test("goes from a configuration to a verdict, and back to its lines", async () => {
    const { page, requests } = await open("#/router");
    await until(() => page.getByText("Nothing leaves this page").count()).toBe(1);
    await paste(page, EDGE);

    // Findings, each with its rule, why and what to do; its line is one click away.
    const findings = page.getByRole("list", { name: "Findings (2)" });
    await findings.waitFor();
    const first = findings.getByRole("listitem").first();
    expect(await first.textContent()).toMatch(
      /the queue of class VIDEO is deep[\s\S]*Why: [\s\S]*What to do: [\s\S]*line 14[\s\S]*SG-Q006/,
    );
    await first.getByRole("button", { name: "line 14" }).click();
    expect(
      await page.locator(".editor-host").evaluate((e) => {
        const active = e.shadowRoot?.querySelector(".cm-activeLine");
        return active?.textContent?.trim();
      }),
    ).toBe("class VIDEO");

    // The picture names every class.
    const picture = page.getByRole("img", { name: /^The policy at Serial0\/1\/0/ });
    for (const name of ["VOICE", "VIDEO", "BUSINESS", "class-default"])
      expect(await picture.getByText(name, { exact: true }).count()).toBeGreaterThan(0);

    // Loads: first by rule of thumb, then what the router has measured, then by hand.
    const calls = page.getByRole("textbox", { name: "calls of VOICE" });
    expect(await calls.inputValue()).toBe("17");
    await drop(page, "show.txt", SHOW);
    await until(() => calls.inputValue()).toBe("12");
    await calls.fill("25");
    await calls.blur();
    expect(await page.locator(".loads tbody tr").first().textContent()).toContain("you");

    await run(page).click();
    await page.getByRole("heading", { name: "Verdict" }).waitFor();
    expect(await cell(page, "Classes", "VOICE", "Verdict")).toContain("pass");
    expect(await cell(page, "Classes", "VOICE", "Mean delay")).toMatch(/^\d+\.\d+ ±\d/);
    expect(await cell(page, "Classes", "VOICE", "Never above")).toMatch(/ms$/);

    // Less priority than the calls need: they fail, and that is the line to paste.
    const slider = page.getByRole("slider", { name: "priority percent" });
    await slider.fill("9");
    await until(() => cell(page, "Before and after", "VOICE", "Verdict")).toContain("fail");
    const lines = page.getByRole("region", { name: "Changed lines" });
    expect((await lines.textContent())?.trim()).toBe(
      "policy-map WAN\n class VOICE\n  priority percent 10",
    );
    await page.getByRole("button", { name: "Back to the configuration as it is" }).click();
    expect(await page.getByText("Nothing of the configuration is changed").count()).toBe(1);

    await page.getByRole("button", { name: "As Linux tc" }).click();
    expect(await page.getByRole("region", { name: "As Linux tc" }).textContent()).toContain("tc ");

    // Nothing was asked for but the page itself, and nothing is kept.
    const parts = /\/(index\.html|app\.js|app\.css|worker\.js|spillgate\.wasm|project\.json)?$/;
    expect(requests.filter((r) => !parts.test(r) && !/^(data|blob):/.test(r))).toEqual([]);
    const kept = await page.evaluate(() => JSON.stringify(localStorage));
    expect(kept).not.toContain("policy-map");
    expect(page.url()).not.toContain("?");
  });

  test("begins with an example at one click, and clears everything", async () => {
    const { page } = await open("#/router");
    await page.getByRole("button", { name: "Show an example" }).click();
    await run(page).waitFor();
    expect(await page.getByText("Measured loads from show policy-map interface").count()).toBe(1);
    await page.getByRole("button", { name: "Clear everything" }).click();
    expect(await page.getByRole("heading", { name: "The policy", exact: true }).count()).toBe(0);
    expect(
      await page.locator(".editor-host").evaluate((e) => e.shadowRoot?.textContent),
    ).not.toContain("VOICE");
  });

  test("hands the scenario over; links are off until they are allowed", async () => {
    const { page } = await open("#/router");
    await page.getByRole("button", { name: "Show an example" }).click();
    const allow = page.getByRole("checkbox", { name: /Allow links and files/ });
    await allow.waitFor();
    const share = page.getByRole("group", { name: /share|pass/i });
    expect(await share.count()).toBe(0);
    await allow.check();
    expect(await page.locator(".share button").count()).toBeGreaterThan(1);
    await page.getByRole("button", { name: "Open in the scenario page" }).click();
    await until(() => page.url()).toMatch(/#\/scenario$/);
  });

  test("says what is wrong with what is no configuration", async () => {
    const { page } = await open("#/router");
    await drop(
      page,
      "junos.conf",
      "## Last commit: 2024\nsystem {\n    host-name r1;\n}\nclass-of-service {\n}\n",
    );
    await page.getByText(/this looks like a Junos configuration/).waitFor();
    await drop(page, "x.bin", Buffer.from([0, 1, 2, 3, 0, 255, 254, 0, 7]));
    await page.getByRole("list", { name: "Why it cannot be read" }).waitFor();
    await paste(
      page,
      "hostname R1\ninterface GigabitEthernet0/1\n ip address 10.0.0.1 255.0.0.0\n",
    );
    await page
      .getByText("There is no interface with a policy, and no policy-map to try.")
      .waitFor();
    await paste(page, "");
    await until(() => page.locator(".facts").count()).toBe(0);
  });

  test("refuses a capture of 2 GB unread, with the command that reads it", async () => {
    const { page } = await open("#/router");
    await page.evaluate(() => {
      const input = document.querySelector<HTMLInputElement>(".config-drop input");
      const big = new File([Uint8Array.of(0xd4, 0xc3, 0xb2, 0xa1)], "edge.pcap");
      Object.defineProperty(big, "size", { value: 2e9 });
      Object.defineProperty(input, "files", { value: [big] });
      input?.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await page.getByText("spillgate profile edge.pcap").waitFor();
  });

  test("takes loads from a capture, by the classes of the policy", async () => {
    const { page } = await open("#/router");
    await page.getByRole("button", { name: "Show an example" }).click();
    await run(page).waitFor();
    const capture = new URL("../../../examples/captures/office.pcap", import.meta.url);
    await drop(page, "office.pcap", readFileSync(fileURLToPath(capture)));
    await page.getByText(/Loads from the capture office.pcap: 4,159 packets/).waitFor();
    const kind = page.getByRole("combobox", { name: "Traffic of VOICE" });
    await until(() => kind.inputValue()).toBe("captured");
    await run(page).click();
    await page.getByRole("heading", { name: "Verdict" }).waitFor();
  });

  test("shows hostile names as text and runs none of them", async () => {
    const { page } = await open("#/router");
    const evil = "<img/src=x/onerror=globalThis.evil=1>\"'";
    const long = "x".repeat(300);
    await paste(
      page,
      `class-map match-any ${evil}\n match dscp ef\nclass-map match-any ${long}\n match dscp af41\n` +
        `policy-map ${evil}\n class ${evil}\n  priority percent 10\n class ${long}\n  bandwidth percent 20\n` +
        `interface GigabitEthernet0/1\n bandwidth 10000\n service-policy output ${evil}\nusername a password 0 geheim17\n`,
    );
    await run(page).click();
    await page.getByRole("heading", { name: "Verdict" }).waitFor();
    expect(await page.evaluate(() => "evil" in globalThis)).toBe(false);
    expect(await page.locator("img").count()).toBe(0);
    const { wide, shown } = await page.evaluate(() => ({
      wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      // The editor is in a root of its own: this is all the rest.
      shown: document.body.textContent,
    }));
    expect(wide).toBe(0);
    expect(shown).not.toContain("geheim17");
  });

  test("stays quick to type in with 50,000 lines", async () => {
    const { page } = await open("#/router");
    const lines = Array.from(
      { length: 12_500 },
      (_, i) =>
        `interface Vlan${i}\n description x\n ip address 10.0.${i % 250}.1 255.255.255.0\n!\n`,
    );
    const facts = page.locator(".facts");
    // Of several times the least: the machine may do other things, too.
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 4; i++) {
      const text = `${lines.join("")}${EDGE}${"!\n".repeat(i)}`;
      await drop(page, "big.cfg", text);
      const count = text.split("\n").length.toLocaleString("en");
      await until(() => facts.textContent()).toContain(count);
      await page.getByRole("textbox", { name: "Configuration of the router" }).click();
      const begin = performance.now();
      await page.keyboard.type("! quick", { delay: 0 });
      least = Math.min(least, performance.now() - begin);
    }
    // Seven keys, each with its way to the browser and back.
    expect(least).toBeLessThan(1000);
  });

  test("has nothing serious by axe, and fits 400 px", async () => {
    const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
    for (const look of [{ width: 1400 }, { width: 400, dark: true }]) {
      const { page } = await open("#/router", look);
      await page.getByRole("button", { name: "Show an example" }).click();
      await run(page).click();
      await page.getByRole("heading", { name: "Verdict" }).waitFor();
      const slider = page.getByRole("slider", { name: "priority percent" });
      await slider.fill("20");
      await until(() => cell(page, "Before and after", "VOICE", "Mean delay")).toContain("becomes");
      await page.evaluate(readFileSync(axe, "utf8"));
      const found = await page.evaluate(async () => {
        // biome-ignore lint/suspicious/noExplicitAny: axe defines it in the page
        const { violations } = await (globalThis as any).axe.run();
        return violations
          .filter((v: { impact: string }) => v.impact === "serious" || v.impact === "critical")
          .map((v: { id: string; nodes: { target: string[] }[] }) =>
            [v.id, ...v.nodes.map((n) => n.target.join(" "))].join(" "),
          );
      });
      expect(found).toEqual([]);
      expect(
        await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        ),
      ).toBe(0);
    }
  });
});
