/** Makes the module smaller and faster by Binaryen: `spillgate_wasm_opt.wasm` beside it. */

import { spawnSync } from "node:child_process";
import { rmSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const [input, output] = ["bg", "opt"].map((kind) =>
  path(`../dist/wasm/spillgate_wasm_${kind}.wasm`),
);
if (!input || !output) throw new Error("unreachable");

rmSync(output, { force: true });
if (process.env.QUICK) {
  console.log("QUICK=1: the module is not optimized");
} else {
  const begin = performance.now();
  const level = process.env.WASM_OPT ?? "-O3";
  const program = path("../node_modules/binaryen/bin/wasm-opt");
  // Those that Rust's target has; a stripped module does not say which it uses.
  const features = ["bulk-memory", "multivalue", "mutable-globals", "nontrapping-float-to-int"]
    .concat(["reference-types", "sign-ext"])
    .map((feature) => `--enable-${feature}`);
  const { status, stderr } = spawnSync(
    process.execPath,
    [program, ...features, level, input, "-o", output],
    { encoding: "utf8", maxBuffer: 1e9 },
  );
  if (status !== 0) {
    console.error(`error: wasm-opt: ${stderr.slice(0, 2000)}`);
    process.exit(1);
  }
  const [before, after] = [statSync(input).size, statSync(output).size];
  const seconds = ((performance.now() - begin) / 1000).toFixed(0);
  console.log(`wasm-opt ${level}: ${before} to ${after} bytes in ${seconds} s`);
}
