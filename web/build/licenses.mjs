/** The licenses of what stands in the page, which ask to go with it. */

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL("../", import.meta.url));

/** A comment with each license once, below the packages that have it. */
export function licenses() {
  /** @type {Record<string, { dev?: boolean }>} */
  const locked = JSON.parse(readFileSync(`${web}package-lock.json`, "utf8")).packages;
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const [path, { dev }] of Object.entries(locked)) {
    if (!path || dev) continue;
    const file = readdirSync(web + path).find((name) => /^licen[cs]e/i.test(name));
    if (!file) throw new Error(`${path} has no file with its license`);
    const text = readFileSync(`${web}${path}/${file}`, "utf8").trim();
    found.set(text, [...(found.get(text) ?? []), path.slice("node_modules/".length)]);
  }
  const each = [...found].map(([text, names]) => `${names.join(", ")}\n\n${text}`);
  return `/*!\n${each.join("\n\n---\n\n").replaceAll("*/", "* /")}\n*/\n`;
}
