import { render } from "preact";
import { App } from "./app/App";
import "./app/style.css";
import { Client } from "./engine/client";
import { parts } from "./engine/parts";
import { beginHanded } from "./share/handed";

async function begin(root: HTMLElement) {
  const own = parts();
  const engine = new Client(own);
  if ("WebAssembly" in globalThis) engine.begin();
  await beginHanded(own);
  render(<App engine={engine} />, root);
}

const root = document.getElementById("app");
if (root) begin(root);
