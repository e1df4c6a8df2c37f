import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Engine } from "./api";

const Context = createContext<Engine | null>(null);

export function EngineProvider(props: { engine: Engine; children: ComponentChildren }) {
  return <Context.Provider value={props.engine}>{props.children}</Context.Provider>;
}

/** The simulator, in a page. */
export function useEngine(): Engine {
  const engine = useContext(Context);
  if (!engine) throw new Error("useEngine outside of an EngineProvider");
  return engine;
}
