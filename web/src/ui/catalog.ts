import { useEffect, useState } from "preact/hooks";
import type { Catalog, CatalogEntry, Engine } from "../engine/api";
import { useEngine } from "../engine/context";

const known = new WeakMap<Engine, Promise<Catalog>>();

/** The words of the core for metrics, series, scopes and effects; empty until they are there. */
export function useCatalog(): Catalog {
  const engine = useEngine();
  const [catalog, setCatalog] = useState<Catalog>({});
  useEffect(() => {
    let wanted = true;
    const asked = known.get(engine) ?? engine.about().then((a) => a.catalog);
    known.set(engine, asked);
    asked.then(
      (c) => wanted && setCatalog(c),
      // Without the words, metrics are shown by their names; the next page asks again.
      () => known.delete(engine),
    );
    return () => {
      wanted = false;
    };
  }, [engine]);
  return catalog;
}

/** An entry by the name or the kind that it has in files. */
export function entryOf(catalog: Catalog, family: string, name: string): CatalogEntry | undefined {
  return catalog[family]?.find((e) => e.name === name || e.kind === name);
}

/** A text of an entry; the name in plain words if there is none. */
export function wordOf(
  catalog: Catalog,
  family: string,
  name: string,
  key: "label" | "short" | "summary" | "mark" = "label",
): string {
  const word = entryOf(catalog, family, name)?.[key];
  if (typeof word === "string") return word;
  return key === "mark" ? "" : name.replaceAll("_", " ");
}
