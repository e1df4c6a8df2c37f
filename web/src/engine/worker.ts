import init from "spillgate-wasm";
import { Desk } from "./desk";
import { methods } from "./methods";

/** The worker: a desk with the module behind it. */

const desk = new Desk(
  (message, transfer) => postMessage(message, { transfer }),
  async (module) => {
    await init({ module_or_path: module });
    return methods;
  },
);

addEventListener("message", (event) => desk.heard(event.data));
