/** Puts the bundles and the module together: `dist/lab`, served or opened as `spillgate-lab.html`. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { alonePage, servedPage } from "./forms.mjs";
import { licenses } from "./licenses.mjs";

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const text = (/** @type {string} */ name) => readFileSync(`${dist}parts/${name}`, "utf8");
const packed = (/** @type {Buffer} */ bytes) =>
  gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION });
// The best quality takes half a minute; QUICK=1 does with a tenth more bytes.
const quality = process.env.QUICK ? 9 : constants.BROTLI_MAX_QUALITY;
const shortest = (/** @type {Buffer} */ bytes) =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    },
  });

const wasm = readFileSync(`${dist}wasm/spillgate_wasm_bg.wasm`);
const app = licenses() + text("app.js");
const [css, worker] = [text("app.css"), text("worker.js")];

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
const first = { br: 0, gz: 0 };
for (const [name, content] of Object.entries(site)) {
  const bytes = Buffer.from(content);
  const [br, gz] = [shortest(bytes), packed(bytes)];
  writeFileSync(`${dist}lab/${name}`, bytes);
  writeFileSync(`${dist}lab/${name}.br`, br);
  writeFileSync(`${dist}lab/${name}.gz`, gz);
  first.br += br.length;
  first.gz += gz.length;
  console.log(
    `${name.padEnd(14)} ${kB(bytes.length)}, as brotli ${kB(br.length)}, as gzip ${kB(gz.length)}`,
  );
}
// `spillgate lab` answers with the project it was started with.
writeFileSync(`${dist}lab/project.json`, "null");
const alone = alonePage({ app, css, worker, wasm: packed(wasm) });
writeFileSync(`${dist}lab/spillgate-lab.html`, alone);
console.log(`first load     as brotli ${kB(first.br)}, as gzip ${kB(first.gz)}`);
console.log(`one file       ${kB(Buffer.byteLength(alone))}`);

function kB(/** @type {number} */ bytes) {
  return `${(bytes / 1000).toFixed(0).padStart(5)} kB`;
}
