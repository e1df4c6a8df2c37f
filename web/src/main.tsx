import { render } from "preact";
import { App } from "./app/App";
import "./app/style.css";
import { Client } from "./engine/client";
import { parts } from "./engine/parts";

const root = document.getElementById("app");
if (root) {
  const engine = new Client(parts());
  if ("WebAssembly" in globalThis) engine.begin();
  render(<App engine={engine} />, root);
}
