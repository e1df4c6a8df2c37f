/** The two forms of the page, made of the same parts. */

import { createHash } from "node:crypto";
import { Script } from "node:vm";

const hash = (/** @type {string} */ text) =>
  `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const ALWAYS =
  "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; worker-src blob:";

/** What the served form may load: parts of its own server. */
export const SERVED = `${ALWAYS}; style-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'`;

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 4h14M1 12h14" stroke="#868e98"/>' +
    '<path d="M2 6h3v4H2zM6.5 6h3v4h-3z" fill="#0072b2"/><path d="M11 6h3v4h-3z" fill="#d55e00"/></svg>',
)}`;

const NOSCRIPT =
  "Spillgate simulates in this page: it needs JavaScript and WebAssembly. " +
  "Spillgate rechnet in dieser Seite: sie braucht JavaScript und WebAssembly.";

/**
 * @param {string} policy
 * @param {string} style
 * @param {string} scripts
 */
function page(policy, style, scripts) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${ICON}">
<title>Spillgate</title>
${style}
</head>
<body>
<div id="app"></div>
<noscript>${NOSCRIPT}</noscript>
${scripts}
</body>
</html>
`;
}

/** The page of the served form. */
export function servedPage() {
  return page(SERVED, '<link rel="stylesheet" href="app.css">', '<script src="app.js"></script>');
}

/**
 * Everything in one file. What is data to the page has a type that no browser runs.
 *
 * @param {{ app: string, css: string, worker: string, wasm: Buffer }} parts `wasm` in gzip
 */
export function alonePage(parts) {
  const app = inScript(parts.app);
  const css = parts.css.replaceAll("</style", "<\\/style");
  const policy = `${ALWAYS}; style-src ${hash(css)}; script-src ${hash(app)} 'wasm-unsafe-eval'; connect-src 'none'`;
  return page(
    policy,
    `<style>${css}</style>`,
    `<script type="application/json" id="spillgate-project">null</script>
<script type="text/plain" id="spillgate-worker">${inScript(parts.worker)}</script>
<script type="text/plain" id="spillgate-wasm">${parts.wasm.toString("base64")}</script>
<script>${app}</script>`,
  );
}

/**
 * JavaScript as it may stand in an element: what would end it, or begin a comment, is written
 * otherwise. In strings, templates and regular expressions the new spelling means the same;
 * elsewhere neither stands in what a minifier writes, and if it did, the script is refused here.
 *
 * @param {string} text
 */
export function inScript(text) {
  const spelled = text.replaceAll(/<(?=\/script|!--)/gi, "\\x3c").replaceAll("\r\n", "\n");
  new Script(spelled);
  return spelled;
}
