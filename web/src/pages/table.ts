import type { ComponentType } from "preact";
import type { Route } from "../app/router";

/** Every page is a directory with an `index.tsx` that exports `Page`. */
export type Page = ComponentType<{ route: Route }>;

const found = import.meta.glob<{ Page: Page }>("./*/index.tsx", { eager: true });

/** In the order of the navigation. */
const order = ["watch", "lessons", "router", "scenario", "papers"] as const;
export type PageName = (typeof order)[number];

export const pages: ReadonlyMap<string, Page> = new Map(
  order.flatMap((name) => {
    const page = found[`./${name}/index.tsx`]?.Page;
    return page ? [[name, page] as const] : [];
  }),
);
