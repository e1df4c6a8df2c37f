/** What wasm-bindgen makes of `crates/wasm`; see its documentation for the documents. */
declare module "spillgate-wasm" {
  export default function init(module: { module_or_path: WebAssembly.Module }): Promise<unknown>;
}
