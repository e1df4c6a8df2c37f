import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe } from "vitest";
import type { Project } from "../../src/engine/api";
import type { Methods } from "../../src/engine/desk";

/** The built module in Node, for tests. */

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = `${root}web/dist/wasm/`;

/** Tests of the built module; they are skipped, and say so, where it is not built. */
export function withModule(name: string, tests: (methods: () => Promise<Methods>) => void): void {
  if (!existsSync(`${folder}spillgate_wasm.js`)) {
    console.warn(`SKIPPED: ${name}: the module is not built (make lab)`);
    describe.skip(name, () => tests(() => Promise.reject(new Error("the module is not built"))));
    return;
  }
  describe(name, () => tests(moduleMethods));
}

let loaded: Promise<Methods> | undefined;

/** What the module can do; it is loaded once. */
export function moduleMethods(): Promise<Methods> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<Methods> {
  const wasm = await import("spillgate-wasm");
  const bytes = readFileSync(`${folder}spillgate_wasm_bg.wasm`);
  await wasm.default({ module_or_path: await WebAssembly.compile(bytes) });
  return (await import("../../src/engine/methods")).methods;
}

/** A scenario of the repository with the files beside it. */
export function project(path: string): Project {
  const at = path.lastIndexOf("/") + 1;
  const beside = readdirSync(`${root}${path.slice(0, at)}`, { withFileTypes: true });
  const names = beside.filter((entry) => entry.isFile()).map((entry) => entry.name);
  const files = names.map((name) => [
    name,
    new Uint8Array(readFileSync(`${root}${path.slice(0, at)}${name}`)),
  ]);
  return { path: path.slice(at), files: Object.fromEntries(files) };
}
