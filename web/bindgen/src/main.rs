//! `spillgate-bindgen IN.wasm OUT`: writes the folder OUT with the module and what calls it.

use std::error::Error;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(input), Some(out), None) = (arguments.next(), arguments.next(), arguments.next())
    else {
        eprintln!("usage: spillgate-bindgen IN.wasm OUT");
        return ExitCode::from(2);
    };
    if let Err(error) = write(&input, &out) {
        eprintln!("error: {input}: {error:#}");
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

fn write(input: &str, out: &str) -> Result<(), Box<dyn Error>> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).out_name("spillgate_wasm");
    bindgen.typescript(false).omit_default_module_path(true);
    bindgen
        .remove_name_section(true)
        .remove_producers_section(true);
    bindgen.web(true)?.generate(out)?;
    Ok(())
}
