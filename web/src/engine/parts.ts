import { fromBase64 } from "./project";

/**
 * What the page is made of besides its script. In the form that is one file everything stands in
 * the page, as scripts of types that no browser runs; in the served form it is beside it.
 */
export interface Parts {
  worker(): Worker;
  /** The module, compiled: once for all workers, and for those that come after a crash. */
  module(): Promise<WebAssembly.Module>;
  /** The document of the project that the page begins with; `null` in JSON where there is none. */
  project: string;
}

/** The identifiers of what stands in the one-file form. `spillgate.lab` fills the slot, too. */
const WORKER = "spillgate-worker";
const WASM = "spillgate-wasm";
const SLOT = "spillgate-project";

/** Where the server of `spillgate lab` has the project. */
const SERVED = "project.json";

/** Whether this page is the form that is one file. */
export function isAlone(): boolean {
  return document.getElementById(WASM) !== null;
}

/** Loads what is there before anything is shown; the module comes while the page is drawn. */
export async function parts(): Promise<Parts> {
  const { wasm, ...others } = await (import.meta.env.DEV ? developed() : built());
  let compiled: Promise<WebAssembly.Module> | undefined;
  const compile = async () => WebAssembly.compile(await wasm());
  return {
    ...others,
    module: () => {
      compiled ??= compile().catch((error) => {
        compiled = undefined;
        throw error;
      });
      return compiled;
    },
  };
}

type Loaded = Omit<Parts, "module"> & { wasm: () => Promise<ArrayBuffer> };

async function built(): Promise<Loaded> {
  const { script, ...others } = isAlone() ? inline() : await served();
  // From a blob in both forms: workers that begin later ask nobody for their script.
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  return { ...others, worker: () => new Worker(url) };
}

function inline() {
  const text = (id: string) => document.getElementById(id)?.textContent ?? "";
  return {
    script: text(WORKER),
    wasm: () => unpacked(fromBase64(text(WASM).trim())),
    project: text(SLOT),
  };
}

function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function served() {
  const [script, project] = await Promise.all(
    ["worker.js", SERVED].map(async (name) => (await got(name)).text()),
  );
  return {
    script: script ?? "",
    wasm: async () => (await got("spillgate.wasm")).arrayBuffer(),
    project: project ?? "null",
  };
}

/** By Vite's server, with the module that `make lab` has left. */
async function developed(): Promise<Loaded> {
  return {
    worker: () => new Worker("/src/engine/worker.ts", { type: "module" }),
    wasm: async () => (await got("/dist/lab/spillgate.wasm")).arrayBuffer(),
    project: "null",
  };
}

async function got(name: string): Promise<Response> {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  return answer;
}
