import { render } from "preact";
import { App } from "./app/App";
import "./app/style.css";
import { Client } from "./engine/client";
import { parts } from "./engine/parts";
import { beginHanded } from "./share/handed";
import { useTexts } from "./texts";

/** Two runs are compared side by side; more workers would only take memory. */
const WORKERS = 2;

async function begin(root: HTMLElement) {
  const own = await parts();
  const engine = new Client(own, Math.min(WORKERS, navigator.hardwareConcurrency || 1));
  if ("WebAssembly" in globalThis) engine.begin();
  await beginHanded(own);
  render(<App engine={engine} />, root);
}

const root = document.getElementById("app");
if (root) {
  begin(root).catch((error) => {
    root.textContent = useTexts().app.notLoaded(String(error));
  });
}
