import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** The width of an element in pixels, followed as it changes. */
export function useWidth(element: RefObject<HTMLElement>, first: number): number {
  const [width, setWidth] = useState(first);
  useEffect(() => {
    const node = element.current;
    if (!node) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(100, node.clientWidth)));
    observer.observe(node);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
