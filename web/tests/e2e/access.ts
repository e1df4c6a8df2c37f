import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

/** Whether everybody can use a page. */

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** CSS pixels by which the page is wider than the window. */
export function wider(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });
}

/** What axe calls serious or critical: the rule, and where. */
export async function serious(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  return page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe defines it in the page
    const { violations } = await (globalThis as any).axe.run();
    return violations
      .filter((v: { impact: string }) => v.impact === "serious" || v.impact === "critical")
      .map((v: { id: string; nodes: { target: string[] }[] }) =>
        [v.id, ...v.nodes.map((n) => n.target.join(" "))].join(" "),
      );
  });
}
