//! A circuit of ATM as `pvc`: contract, encapsulation and queueing.

use std::fmt::Write as _;

use spillgate_core::Rate;
use spillgate_nodes::atm::{ContractSpec, Encapsulation};
use spillgate_scenario::import::Framing;

use super::numbers::{kbps, quoted};
use crate::{Circuit, Here};

/// The name of an interface without the VPI/VCI behind it.
pub(super) fn interface(name: &str) -> &str {
    name.split_once(' ')
        .map_or(name, |(interface, _)| interface)
}

/// The keyword after the name of a sub-interface with circuits.
pub(super) fn kind(name: &str) -> &'static str {
    match (interface(name).contains('.'), name.contains(' ')) {
        (false, _) => "",
        (true, false) => " point-to-point",
        (true, true) => " multipoint",
    }
}

/// Whether its contract gives a rate, so that `bandwidth` has no effect.
pub(super) fn has_rate(circuit: &Circuit) -> bool {
    let contract = &circuit.contract;
    circuit.shaped && (contract.pcr().is_some() || contract.minimum_rate().is_some())
}

/// Writes `pvc` up to its policies; `line`: the rate up to which a contract without a peak may
/// send.
pub(super) fn pvc(
    out: &mut String,
    name: &str,
    circuit: &Circuit,
    line: Option<Rate>,
    notes: &mut Here<'_>,
) {
    let said = name.split_once(' ').map(|(_, vc)| vc.to_owned());
    let vc = said.or_else(|| circuit.vc.map(|vc| vc.to_string()));
    if let Some(line) = &circuit.line {
        let reason = format!(
            "it shares the line `{line}` with other circuits: put them on sub-interfaces of one interface"
        );
        notes.add(reason);
    }
    let vc = vc.unwrap_or_else(|| {
        let reason = "nobody has said the VPI/VCI of the circuit: 1/32 stands for it; name them with --interface 'ATM0/0.1 1/32'";
        notes.add(reason);
        "1/32".to_owned()
    });
    let called = circuit
        .name
        .as_ref()
        .map(|n| format!("{} ", quoted(n, notes)));
    let _ = writeln!(out, " pvc {}{vc}", called.unwrap_or_default());
    if circuit.shaped {
        contract(out, &circuit.contract, line, notes);
    } else {
        notes.add("cells are not shaped: no contract is written for the circuit");
    }
    match circuit.framing {
        Some(framing) => out.push_str(encapsulation(framing)),
        None => notes.add("IOS has no encapsulation that adds what the link's `overhead` says: aal5snap stands for it"),
    }
}

fn contract(out: &mut String, contract: &ContractSpec, line: Option<Rate>, notes: &mut Here<'_>) {
    let rate = |rate: Rate, what: &str, notes: &mut Here<'_>| kbps(rate, what, notes);
    let cdvt = match contract {
        ContractSpec::Cbr(c) => {
            let _ = writeln!(out, "  cbr {}", rate(c.pcr, "cbr", notes));
            c.cdvt
        }
        ContractSpec::RtVbr(v) | ContractSpec::NrtVbr(v) => {
            let command = match contract {
                ContractSpec::RtVbr(_) => "vbr-rt",
                _ => "vbr-nrt",
            };
            let (pcr, scr) = (rate(v.pcr, command, notes), rate(v.scr, command, notes));
            let _ = writeln!(out, "  {command} {pcr} {scr} {}", v.mbs);
            v.cdvt
        }
        ContractSpec::Ubr(u) => {
            match (u.pcr, u.mdcr, u.pcr.or(line)) {
                (_, Some(mdcr), Some(pcr)) => {
                    let (pcr, mdcr) = (rate(pcr, "ubr+", notes), rate(mdcr, "ubr+", notes));
                    let _ = writeln!(out, "  ubr+ {pcr} {mdcr}");
                }
                (Some(pcr), None, _) => {
                    let _ = writeln!(out, "  ubr {}", rate(pcr, "ubr", notes));
                }
                (None, None, _) => {}
                (_, Some(_), None) => {
                    notes.add("`ubr+` needs a peak cell rate, and none is known");
                }
            }
            u.cdvt
        }
        ContractSpec::Gfr(g) => {
            notes.add("IOS has no guaranteed frame rate: the contract is left out");
            g.cdvt
        }
    };
    if cdvt > spillgate_core::Dur::ZERO {
        notes.add(format!(
            "IOS shapes without a tolerance of cell delay variation, here {cdvt}"
        ));
    }
}

/// The lines of the encapsulation.
fn encapsulation(framing: Framing) -> &'static str {
    match framing {
        Framing::Header(Encapsulation::Llc) => "  encapsulation aal5snap\n",
        Framing::Header(Encapsulation::VcMux) => "  encapsulation aal5mux ip\n",
        Framing::Overhead("pppoa-vcmux") => "  encapsulation aal5mux ppp dialer\n",
        Framing::Overhead("pppoa-llc") => "  encapsulation aal5snap\n  protocol ppp dialer\n",
        Framing::Overhead("pppoe-vcmux") => "  encapsulation aal5mux pppoe-client\n",
        Framing::Overhead("pppoe-llcsnap") => {
            "  encapsulation aal5snap\n  pppoe-client dial-pool-number 1\n"
        }
        Framing::Overhead("bridged-vcmux") => "  encapsulation aal5mux bridge-dot3\n",
        Framing::Overhead(_) => "  encapsulation aal5snap\n  protocol bridge broadcast\n",
    }
}
