import type { Figure } from "../figure";
import { chien } from "./chien";
import { domzal } from "./domzal";
import { mitroi } from "./mitroi";
import { shrivastav } from "./shrivastav";
import { zheng } from "./zheng";

/** In the order of the papers' own pages. */
export const figures: readonly Figure[] = [mitroi, domzal, shrivastav, chien, zheng];
