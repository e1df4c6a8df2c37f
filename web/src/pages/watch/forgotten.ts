/** Memory of what is seen no more. */

import { useEffect } from "preact/hooks";

/** After so long nothing that is drawn goes by what was before, ms. */
const FORGOTTEN = 5000;

/**
 * Empties a value a while after another has replaced it. Preact keeps what a component was first
 * rendered with, and that leads on to later renderings: all they show would stay in memory.
 */
export function useForgotten<T>(value: T, forget: (value: T) => void): void {
  useEffect(
    () => () => {
      setTimeout(() => forget(value), FORGOTTEN);
    },
    [value],
  );
}

/** Empties a list, and puts `nothing` in place of what its items hold. */
export function emptied(list: readonly object[], nothing: object = {}): void {
  for (const item of (list as object[]).splice(0)) Object.assign(item, nothing);
}
