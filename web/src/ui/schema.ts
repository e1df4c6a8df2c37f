/** Walking a JSON Schema along a path of a document: which keys and values may stand where. */

import type { JsonSchema } from "../engine/api";

/** A step from a value to one below it. */
export type Step = string | number;

type Schema = JsonSchema;

function isSchema(x: unknown): x is Schema {
  return typeof x === "object" && x !== null && !Array.isArray(x);
}

function own(x: unknown, key: string): unknown {
  return isSchema(x) && Object.hasOwn(x, key) ? x[key] : undefined;
}

/** What follows `#/` of a reference within the document. */
function pointer(root: Schema, ref: unknown): unknown {
  if (typeof ref !== "string" || !ref.startsWith("#/")) return undefined;
  const parts = ref.slice(2).split("/");
  return parts.reduce<unknown>(
    (at, part) => own(at, part.replaceAll("~1", "/").replaceAll("~0", "~")),
    root,
  );
}

/** A place of a document, with the schemas that its value may follow. */
export class Place {
  readonly #root: Schema;
  readonly schemas: readonly Schema[];

  private constructor(root: Schema, start: readonly unknown[]) {
    this.#root = root;
    this.schemas = Place.#open(root, start);
  }

  /** The top of a document. */
  static top(root: Schema): Place {
    return new Place(root, [root]);
  }

  /** Follows references and lays alternatives side by side. */
  static #open(root: Schema, start: readonly unknown[]): Schema[] {
    const todo = [...start];
    const found: Schema[] = [];
    for (let schema = todo.shift(); schema !== undefined; schema = todo.shift()) {
      // The same schema may be reached again through a reference.
      if (!isSchema(schema) || found.includes(schema)) continue;
      found.push(schema);
      todo.push(pointer(root, own(schema, "$ref")) ?? null);
      for (const word of ["anyOf", "oneOf", "allOf"]) {
        const list = own(schema, word);
        if (Array.isArray(list)) todo.push(...list);
      }
    }
    return found;
  }

  /** The value of a key. */
  key(name: string): Place {
    const next = this.schemas.map(
      (s) => own(own(s, "properties"), name) ?? own(s, "additionalProperties") ?? null,
    );
    return new Place(this.#root, next);
  }

  /** An item of a list. */
  item(): Place {
    return new Place(
      this.#root,
      this.schemas.map((s) => own(s, "items") ?? null),
    );
  }

  step(step: Step): Place {
    return typeof step === "number" ? this.item() : this.key(step);
  }

  /** Whether the format names this key here. */
  has(name: string): boolean {
    return this.schemas.some((s) => own(own(s, "properties"), name) !== undefined);
  }

  /** Whether the key stands here alone, to say of which kind its value is. */
  isKind(name: string): boolean {
    return this.schemas.some((s) => {
      const properties = own(s, "properties");
      return (
        isSchema(properties) &&
        Object.keys(properties).length === 1 &&
        Object.hasOwn(properties, name)
      );
    });
  }

  /** The keys that the format names here. */
  names(): string[] {
    const lists = this.schemas.map((s) => own(s, "properties"));
    return [...new Set(lists.filter(isSchema).flatMap((p) => Object.keys(p)))];
  }

  /** Those of them without which a value is not complete. */
  required(): Set<string> {
    const lists = this.schemas.map((s) => own(s, "required"));
    return new Set(lists.flatMap((l) => (Array.isArray(l) ? l.map(String) : [])));
  }

  /** What stands here, in words; none if the format does not say. */
  get description(): string | undefined {
    const texts = this.schemas.map((s) => own(s, "description"));
    return texts.find((t): t is string => typeof t === "string")?.replace(/\s*\n\s*/g, " ");
  }

  /** The first of what the schemas here say under a word of JSON Schema. */
  word(name: string): unknown {
    return this.schemas.map((s) => own(s, name)).find((v) => v !== undefined && v !== null);
  }

  /** The types of values that may stand here. */
  types(): Set<string> {
    return new Set(this.schemas.flatMap((s) => own(s, "type") ?? []).map(String));
  }

  /** The words that may stand here, each with what it means. */
  choices(): { value: string; description: string | undefined }[] {
    return this.schemas.flatMap((s) => {
      const listed = own(s, "enum");
      const single = own(s, "const");
      const values = Array.isArray(listed) ? listed : single === undefined ? [] : [single];
      const said = own(s, "description");
      const description = typeof said === "string" ? said.replace(/\s*\n\s*/g, " ") : undefined;
      return values.filter((v) => v !== null).map((v) => ({ value: String(v), description }));
    });
  }

  /** Whether a text is of one of the forms that may stand here. */
  takes(text: string): boolean {
    return this.schemas.some((s) => {
      const pattern = own(s, "pattern");
      return typeof pattern === "string" && new RegExp(pattern, "u").test(text);
    });
  }
}
