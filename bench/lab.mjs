// Runs in the page's WebAssembly module, under Node: CPU-seconds, events and memory as JSON.
//
//     node bench/lab.mjs GLUE WASM SCENARIO
//
// GLUE and WASM are what `make lab` leaves in web/dist/wasm. The first run is slower: it begins
// before the engine of JavaScript has made its best code.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const REPEATS = 4;

const [glue, wasm, scenario] = process.argv.slice(2);
const module = await import(pathToFileURL(glue).href);
const instance = module.initSync({ module: readFileSync(wasm) });
const files = new module.Files();
files.put(scenario, readFileSync(scenario));

/** CPU-seconds of one run, its events and digests. */
function once() {
  const job = new module.Job(files, scenario, "{}");
  const begin = process.cpuUsage();
  while (job.advance(8192)) {
    // The page lets other things happen here.
  }
  const { user } = process.cpuUsage(begin);
  const results = job.results();
  const digests = JSON.parse(results.runs()).map((run) => run.digest);
  const found = { seconds: user / 1e6, events: results.events(), digests };
  results.free();
  job.free();
  return found;
}

const runs = Array.from({ length: REPEATS }, once);
const memory = instance.memory.buffer.byteLength;
process.stdout.write(JSON.stringify({ runs, memory }));
