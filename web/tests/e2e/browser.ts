import { existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect } from "vitest";

/** A browser with the built lab, for tests. */

/** Where the built lab is. */
export const SITE = fileURLToPath(new URL("../../dist/lab/", import.meta.url));

/** The form that is one file, as an address. */
export const ALONE = pathToFileURL(`${SITE}spillgate-lab.html`).href;

export interface Look {
  /** CSS pixels; default 1400 x 900 */
  width?: number;
  height?: number;
  dark?: boolean;
  /** Default: what moves by itself stands still. */
  motion?: boolean;
  /** Default `en-US` */
  locale?: string;
  /** The form that is one file, from `file://`; or another file, as an address. */
  alone?: boolean | string;
  /** Runs in the page before its own scripts. */
  before?: () => void;
  /** Errors are expected: they do not fail the test. */
  faulty?: boolean;
}

/** A page, and what it did. */
export interface Opened {
  page: Page;
  /** Addresses that were asked for, in order. */
  requests: string[];
  /** Errors: uncaught, or on the console, where what the security policy forbade stands, too. */
  errors: string[];
}

/** Opens a place of the lab: `open("#/lessons/red", { width: 400 })`. */
export type Open = (place?: string, look?: Look) => Promise<Opened>;

/** Where the browser is; `undefined` where there is none. */
const program = ["chromium", "chromium-browser", "google-chrome"]
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path));

/** Why nothing can be tested in a browser; `null` if it can. */
function lacking(): string | null {
  if (!program) return "there is no Chromium (on Debian: apt install chromium)";
  if (!existsSync(`${SITE}spillgate.wasm`)) return "the lab is not built (make lab)";
  return null;
}

/**
 * Tests in one Chromium, which the tests of `name` share. Each page is closed after its test, which
 * fails if the page had an error. They are skipped, and say so, where they cannot be run.
 */
export function inBrowser(name: string, tests: (open: Open) => void): void {
  const why = lacking();
  if (why) {
    console.warn(`SKIPPED: ${name}: ${why}`);
    describe.skip(name, () => tests(() => Promise.reject(new Error(why))));
    return;
  }
  describe(name, () => {
    let browser: Browser;
    let server: Server;
    const contexts: BrowserContext[] = [];
    const watched: Opened[] = [];

    beforeAll(async () => {
      server = await serve();
      const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];
      browser = await chromium.launch({ executablePath: program as string, args });
    });

    afterEach(async () => {
      const errors = watched.splice(0).flatMap((opened) => opened.errors);
      await Promise.all(contexts.splice(0).map((context) => context.close()));
      expect(errors).toEqual([]);
    });

    afterAll(async () => {
      await browser?.close();
      server?.close();
    });

    tests(async (place = "", look = {}) => {
      const context = await browser.newContext({
        viewport: { width: look.width ?? 1400, height: look.height ?? 900 },
        colorScheme: look.dark ? "dark" : "light",
        reducedMotion: look.motion ? "no-preference" : "reduce",
        locale: look.locale ?? "en-US",
      });
      contexts.push(context);
      const page = await context.newPage();
      const opened = watch(page);
      if (!look.faulty) watched.push(opened);
      if (look.before) await page.addInitScript(look.before);
      await page.goto(address(look.alone ?? false, server) + place);
      return opened;
    });
  });
}

function address(alone: boolean | string, server: Server): string {
  if (typeof alone === "string") return alone;
  return alone ? ALONE : `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function watch(page: Page): Opened {
  const requests: string[] = [];
  const errors: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  return { page, requests, errors };
}

const TYPES: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json; charset=utf-8",
  wasm: "application/wasm",
};

/** The built site on a free port of the loopback address, as `spillgate lab` serves it. */
async function serve(): Promise<Server> {
  const server = createServer((request, response) => {
    const name = request.url === "/" ? "/index.html" : (request.url ?? "");
    const file = `${SITE}${name.slice(1)}`;
    const type = TYPES[file.split(".").at(-1) ?? ""];
    if (!/^\/[a-z.-]+$/.test(name) || !type || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader("Content-Type", type);
    response.setHeader("Cache-Control", "no-store");
    const packed = request.headers["accept-encoding"]?.includes("br") && existsSync(`${file}.br`);
    if (packed) response.setHeader("Content-Encoding", "br");
    response.end(readFileSync(packed ? `${file}.br` : file));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}
