//! `spillgate-bindgen IN.wasm OUT`: writes the folder OUT with the module and what calls it.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(input), Some(out), None) = (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("usage: spillgate-bindgen IN.wasm OUT");
        return ExitCode::from(2);
    };
    let written = Bindgen::new()
        .input_path(&input)
        .out_name("spillgate_wasm")
        .web(true)
        .and_then(|bindgen| bindgen.typescript(false).omit_default_module_path(true).generate(&out));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {input}: {error:#}");
            ExitCode::from(2)
        }
    }
}
