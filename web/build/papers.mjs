/**
 * What the reproductions of papers found, taken from their pages in `docs/papers` and from what
 * `papers` states: `src/pages/papers/found.json`. `node build/papers.mjs` writes it anew.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

export const FILE = fileURLToPath(new URL("../src/pages/papers/found.json", import.meta.url));
const PAPERS = ["mitroi", "domzal", "shrivastav", "chien", "zheng"];
const root = new URL("../../", import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, root), "utf8");

/** Rows of a table that a page has between its marks, by column. */
function table(/** @type {string} */ page, /** @type {string} */ name) {
  const begin = page.indexOf(`<!-- table ${name} -->`);
  if (begin < 0) throw new Error(`there is no table ${name}`);
  const [, first, ...more] = page.slice(begin).split("\n");
  const cells = (/** @type {string} */ line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  const end = more.findIndex((line) => !line.startsWith("|"));
  const head = cells(first ?? "");
  return more.slice(1, end).map((line) => {
    const row = cells(line);
    return Object.fromEntries(head.map((key, i) => [key, row[i] ?? ""]));
  });
}

function paper(/** @type {string} */ name) {
  const page = read(`docs/papers/${name}.md`);
  const citation = page.split("\n\n")[1]?.replaceAll("\n", " ") ?? "";
  const claims = table(page, "claims").map(({ id, paper, ours, verdict, ...of }) => {
    const says = of["the paper says"] ?? "";
    return [id, { says, paper, ours, verdict: verdict?.replace(/^\S+ /, "") }];
  });
  return { citation, claims: Object.fromEntries(claims) };
}

/** Waiting times of the paper's table I at R2, in s: the mean and half of its interval. */
function waits() {
  const lines = read("papers/spillgate_papers/domzal/table1.csv").trim().split("\n").slice(1);
  const rows = lines.map((line) => /^"PFQ, (\w+)",([^,]+),([^,]+)/.exec(line));
  return Object.fromEntries(rows.flatMap((r) => (r ? [[r[1], [Number(r[2]), Number(r[3])]]] : [])));
}

/** The peak queues of table 1, in packets. */
function peaks() {
  const { tables } = parse(read("papers/spillgate_papers/zheng/paper.yaml"), { merge: true });
  const { columns } = tables.find((/** @type {{ file: string }} */ of) => of.file === "circuit");
  const stated = columns.map((/** @type {Record<string, any>} */ of) => of["PQS stated"]);
  return stated.find((/** @type {unknown} */ of) => of !== undefined).stated.scheme;
}

export function found() {
  const papers = Object.fromEntries(PAPERS.map((name) => [name, paper(name)]));
  return { papers, stated: { waits: waits(), peaks: peaks() } };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(FILE, `${JSON.stringify(found(), null, 2)}\n`);
}
