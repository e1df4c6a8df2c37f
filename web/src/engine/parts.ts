import { fromBase64 } from "./project";

/**
 * What the page is made of besides its script. In the form that is one file everything stands in
 * the page, as scripts of types that no browser runs; in the served form it is beside it.
 */
export interface Parts {
  worker(): Worker;
  /** The module's bytes; the caller may transfer them. */
  wasm(): Promise<ArrayBuffer>;
  /** The document of the project that the page begins with; `null` in JSON where there is none. */
  project(): Promise<string>;
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

export function parts(): Parts {
  return isAlone() ? inline() : served();
}

function inline(): Parts {
  const text = (id: string) => document.getElementById(id)?.textContent ?? "";
  return {
    worker: () => {
      const url = URL.createObjectURL(new Blob([text(WORKER)], { type: "text/javascript" }));
      const worker = new Worker(url);
      // It has been taken when the worker first speaks; until then it must be there.
      worker.addEventListener("message", () => URL.revokeObjectURL(url), { once: true });
      return worker;
    },
    wasm: () => unpacked(fromBase64(text(WASM).trim())),
    project: async () => text(SLOT),
  };
}

function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function served(): Parts {
  const { DEV } = import.meta.env;
  return {
    worker: () =>
      DEV ? new Worker("/src/engine/worker.ts", { type: "module" }) : new Worker("worker.js"),
    wasm: async () =>
      (await got(DEV ? "/dist/lab/spillgate.wasm" : "spillgate.wasm")).arrayBuffer(),
    project: async () => (DEV ? "null" : (await got(SERVED)).text()),
  };
}

async function got(name: string): Promise<Response> {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  return answer;
}
