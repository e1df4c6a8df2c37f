/** What wasm-bindgen makes of `crates/wasm`, whose documentation says what the documents are. */
declare module "spillgate-wasm" {
  export default function init(module: { module_or_path: WebAssembly.Module }): Promise<unknown>;

  /** What lies in the module's memory until it is freed. */
  interface Held {
    free(): void;
  }

  export class Files implements Held {
    constructor();
    put(path: string, bytes: Uint8Array): void;
    free(): void;
  }

  export class Job implements Held {
    constructor(files: Files, path: string, asked: string);
    describe(): string;
    memory(): number;
    advance(events: number): boolean;
    progress(): Float64Array;
    results(): Results;
    explain(variant: number, run: number, question: string): string;
    watch(variant: number, run: number, link: string, limit: number): Watch;
    free(): void;
  }

  export class Results implements Held {
    summary(scopes: string): string;
    samples(scopes: string): string;
    verdicts(): string;
    bounds(): string;
    differences(): string;
    transients(): string;
    words(): string;
    runs(): string;
    distributions(): string;
    admission(): string;
    is_partial(): boolean;
    events(): number;
    series(): string;
    values(): Float64Array;
    free(): void;
  }

  export class Watch implements Held {
    advance(events: number): boolean;
    fraction(): number;
    /** Frees it, too. */
    finish(): Watched;
    free(): void;
  }

  /** Each column may be taken once. */
  export class Watched implements Held {
    head(): string;
    time(): Float64Array;
    kind(): Uint8Array;
    packet(): Uint32Array;
    flow(): Uint32Array;
    class(): Uint16Array;
    queue(): Uint16Array;
    bytes(): Uint32Array;
    until(): Float64Array;
    wait(): Float64Array;
    reason(): Uint8Array;
    average(): Float64Array;
    probability(): Float64Array;
    results(): Results | undefined;
    free(): void;
  }

  export function about(): string;
  export function schema(of: string): string;
  export function yaml_to_json(text: string): string;
  export function lint(files: Files, path: string, asked: string): string;
  export function lint_configuration(files: Files, path: string, platform: string): string;
  export function understand(
    files: Files,
    path: string,
    platform: string,
    iface: string | undefined,
  ): string;
  export function offered(files: Files, path: string): string;
  export function is_show_output(bytes: Uint8Array): boolean;
  export function profile(files: Files, request: string): string;
  export function export_policy(files: Files, request: string, asked: string): string;
  export function bounds(files: Files, path: string, asked: string): string;
  export function format(values: Float64Array, halves: Float64Array, unit: string): string[];
  export function last_panic(): string | undefined;
}
