import type { Project } from "./api";

/** What the page is made of besides its script. Each form of the page says where its parts are. */
export interface Parts {
  worker(): Worker;
  /** The module's bytes; the caller may transfer them. */
  wasm(): Promise<ArrayBuffer>;
  /** What a page that was saved with a project opens with. */
  preload?: Project;
}

declare global {
  var spillgateParts: Parts | undefined;
}

/** The parts that the page defines, or those of Vite's server. */
export function parts(): Parts {
  return globalThis.spillgateParts ?? served("/src/engine/worker.ts", "/dist/lab/spillgate.wasm");
}

function served(worker: string, wasm: string): Parts {
  return {
    worker: () => new Worker(worker, { type: "module" }),
    wasm: async () => {
      const answer = await fetch(wasm);
      if (!answer.ok) throw new Error(`${wasm}: ${answer.status}`);
      return answer.arrayBuffer();
    },
  };
}
