/** What may be written in a scenario, and what it means, from its schema. */

import { Place, type Step } from "../schema";
import { contextAt } from "./context";

export interface Offer {
  /** What is offered. */
  label: string;
  /** What is written where it is chosen. */
  apply: string;
  /** A few words beside it. */
  detail: string;
  info: string;
  /** Whether something is incomplete without it. */
  required: boolean;
}

interface Words {
  required: string;
}

function placeOf(schema: Record<string, unknown>, steps: readonly Step[]): Place {
  return steps.reduce<Place>((place, step) => place.step(step), Place.top(schema));
}

/** The type of a value in a word or by an example. */
function detailOf(place: Place): string {
  const examples = place.word("examples");
  if (Array.isArray(examples) && examples.length > 0) return String(examples[0]);
  const types = [...place.types()].filter((t) => t !== "null");
  const choices = place.choices().map((c) => c.value);
  if (choices.length > 0 && choices.length < 4) return choices.join(" | ");
  return types.filter((t) => t !== "object" && t !== "array").join(", ");
}

/** Whether a value below a key is a map or a list, which begins on the next line. */
function isDeep(place: Place): boolean {
  const types = place.types();
  return (types.has("object") || types.has("array")) && !types.has("string");
}

function keysOf(place: Place, words: Words): Offer[] {
  const required = place.required();
  return place.names().map((name) => {
    const below = place.key(name);
    const must = required.has(name) && !place.isKind(name);
    return {
      label: name,
      apply: isDeep(below) ? `${name}:` : `${name}: `,
      detail: must ? words.required : detailOf(below),
      info: below.description ?? "",
      required: must,
    };
  });
}

function valuesOf(place: Place): Offer[] {
  const offer = (label: string, info = "", detail = ""): Offer => ({
    label,
    apply: label,
    detail,
    info,
    required: false,
  });
  const kinds = place.names().filter((n) => place.isKind(n));
  const examples = place.word("examples");
  const types = place.types();
  return [
    ...place.choices().map((c) => offer(c.value, c.description)),
    ...kinds.map((k) => ({ ...offer(k, place.key(k).description), apply: `{${k}: {}}` })),
    ...(Array.isArray(examples) ? examples.map((e) => offer(String(e), place.description)) : []),
    ...(types.has("boolean") ? [offer("true"), offer("false")] : []),
  ];
}

/** What may be written at a position, and how much of it is there already. */
export function offers(
  schema: Record<string, unknown>,
  text: string,
  position: number,
  words: Words,
): { from: number; offers: Offer[] } {
  const context = contextAt(text, position);
  if (context.want === "nothing") return { from: position, offers: [] };
  const place = placeOf(schema, context.steps);
  const found = context.want === "key" ? keysOf(place, words) : valuesOf(place);
  const unique = [...new Map(found.map((o) => [o.label, o])).values()];
  return { from: position - context.typed.length, offers: unique };
}

/** What is said of something in a text. */
export interface Note {
  from: number;
  to: number;
  title: string;
  text: string;
  facts: string[];
}

/** What the key, or the value, at a position is. */
export function noteAt(
  schema: Record<string, unknown>,
  text: string,
  position: number,
  words: { oneOf: string },
): Note | undefined {
  const isWord = (at: number) => /[\p{L}\p{N}_.%/-]/u.test(text.charAt(at));
  let [from, to] = [position, position];
  while (from > 0 && isWord(from - 1)) from -= 1;
  while (to < text.length && isWord(to)) to += 1;
  if (from === to) return undefined;
  const context = contextAt(text, to);
  if (context.want === "nothing") return undefined;
  const above = placeOf(schema, context.steps);
  const key = context.want === "key" ? context.typed.trim() : undefined;
  const place = key === undefined ? above : above.key(key);
  const description = place.description;
  if (!description) return undefined;
  const title = key ?? String(context.steps.at(-1) ?? "");
  return { from, to, title, text: description, facts: factsOf(place, words.oneOf) };
}

function factsOf(place: Place, oneOf: string): string[] {
  const [low, high] = [place.word("minimum"), place.word("maximum")];
  const choices = place.choices().map((c) => c.value);
  const facts: string[] = [];
  if (low !== undefined || high !== undefined) facts.push(`${low ?? "−∞"} … ${high ?? "∞"}`);
  if (choices.length > 0) facts.push(`${oneOf} ${choices.slice(0, 12).join(", ")}`);
  return facts;
}
