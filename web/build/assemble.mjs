/** Puts the bundles and the module together: `dist/lab`, served or opened as `spillgate-lab.html`. */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { constants, gzipSync } from "node:zlib";
import { alonePage, servedPage } from "./forms.mjs";

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const text = (/** @type {string} */ name) => readFileSync(`${dist}parts/${name}`, "utf8");
const packed = (/** @type {Buffer} */ bytes) =>
  gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION });

const small = `${dist}wasm/spillgate_wasm_opt.wasm`;
const wasm = readFileSync(existsSync(small) ? small : `${dist}wasm/spillgate_wasm_bg.wasm`);
const [app, css, worker] = [text("app.js"), text("app.css"), text("worker.js")];

/** @type {Record<string, string | Buffer>} */
const site = {
  "index.html": servedPage(),
  "app.js": app,
  "app.css": css,
  "worker.js": worker,
  "spillgate.wasm": wasm,
};

rmSync(`${dist}lab`, { recursive: true, force: true });
mkdirSync(`${dist}lab`, { recursive: true });
let first = 0;
for (const [name, content] of Object.entries(site)) {
  const bytes = Buffer.from(content);
  const gz = packed(bytes);
  writeFileSync(`${dist}lab/${name}`, bytes);
  writeFileSync(`${dist}lab/${name}.gz`, gz);
  first += gz.length;
  console.log(`${name.padEnd(20)} ${kB(bytes.length)}, compressed ${kB(gz.length)}`);
}
// `spillgate lab` answers with the project it was started with.
writeFileSync(`${dist}lab/project.json`, "null");
const alone = alonePage({ app, css, worker, wasm: packed(wasm) });
writeFileSync(`${dist}lab/spillgate-lab.html`, alone);
console.log(`first load ${kB(first)}; spillgate-lab.html ${kB(Buffer.byteLength(alone))}`);

function kB(/** @type {number} */ bytes) {
  return `${(bytes / 1000).toFixed(0).padStart(5)} kB`;
}
