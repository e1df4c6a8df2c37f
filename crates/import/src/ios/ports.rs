//! Where policies queue: interfaces, and the circuits of those of ATM.
//!
//! What a circuit does not say is taken from the `vc-class` of its `class-vc`, then of the
//! `class-int` of its sub-interface, then of that of the main interface (Cisco IOS wide-area
//! networking command reference, `class-int`: a class of the sub-interface replaces one of the main
//! interface, a class or command of the circuit replaces both).

use std::collections::BTreeMap;

use spillgate_core::Rate;
use spillgate_nodes::atm::Encapsulation as Header;
use spillgate_scenario::import::Framing;

use super::ast::{At, Circuit, CircuitLines, Config, Encapsulation, Inside, Interface, Origin};
use super::interface_words::parent;

/// An interface, or a circuit of one.
#[derive(Clone, Debug)]
pub(crate) struct Port<'c, 'a> {
    /// The name of the interface; with VPI/VCI behind it if the interface has several circuits.
    pub(crate) name: String,
    pub(crate) interface: &'c Interface<'a>,
    /// The circuit, where it is one or the only one of the interface.
    pub(crate) circuit: Option<(&'c Circuit<'a>, CircuitLines<'a>)>,
    pub(crate) output_policy: Option<At<'a, &'a str>>,
    pub(crate) input_policy: Option<At<'a, &'a str>>,
    /// The names of its circuits where it has several: packets leave by these.
    pub(crate) circuits: Vec<String>,
}

impl<'c, 'a> Port<'c, 'a> {
    /// The rate that its contract can keep up, if it has one with a rate.
    pub(crate) fn contract_rate(&self) -> Option<Rate> {
        let (_, lines) = self.circuit.as_ref()?;
        let contract = &lines.contract.as_ref()?.value;
        contract
            .burst()
            .map(|(scr, _)| scr)
            .or_else(|| contract.pcr())
    }

    /// The category of its contract, where it is a circuit.
    pub(crate) fn category(&self) -> Option<&'static str> {
        let (_, lines) = self.circuit.as_ref()?;
        let contract = lines.contract.as_ref();
        Some(contract.map_or("ubr", |c| c.value.kind()))
    }

    /// The transmit ring that is written for it: of the circuit, the interface, or the main
    /// interface, whose line it is.
    pub(crate) fn tx_ring(&self, config: &Config<'a>) -> Option<At<'a, u32>> {
        let circuit = self.circuit.as_ref().and_then(|(_, lines)| lines.tx_ring);
        circuit.or(self.interface.tx_ring).or_else(|| {
            let main = config.interface_index.get(parent(&self.interface.name)?)?;
            config.interfaces.get(*main)?.tx_ring
        })
    }

    /// Where it begins.
    pub(crate) fn origin(&self) -> Origin<'a> {
        match &self.circuit {
            Some((circuit, _)) if self.name != self.interface.name => circuit.origin,
            _ => self.interface.origin,
        }
    }
}

/// All of a configuration, by name.
pub(crate) fn ports<'c, 'a>(config: &'c Config<'a>) -> Vec<Port<'c, 'a>> {
    let mut all = Vec::new();
    for index in config.interface_index.values() {
        let Some(interface) = config.interfaces.get(*index) else {
            continue;
        };
        let settled = |c: &'c Circuit<'a>| (c, lines(config, interface, c));
        let own = Port {
            name: interface.name.clone(),
            interface,
            circuit: None,
            output_policy: interface.output_policy,
            input_policy: interface.input_policy,
            circuits: Vec::new(),
        };
        if let [circuit] = &interface.circuits[..] {
            let (circuit, lines) = settled(circuit);
            all.push(Port {
                output_policy: lines.output_policy.or(own.output_policy),
                input_policy: lines.input_policy.or(own.input_policy),
                circuit: Some((circuit, lines)),
                ..own
            });
            continue;
        }
        let mut circuits: BTreeMap<_, _> = interface
            .circuits
            .iter()
            .map(|c| (c.vc, settled(c)))
            .collect();
        let name = |vc| format!("{} {vc}", interface.name);
        all.push(Port {
            circuits: circuits.keys().map(|vc| name(*vc)).collect(),
            // One over all of them is said to be lost.
            output_policy: own.output_policy.filter(|_| circuits.is_empty()),
            ..own.clone()
        });
        while let Some((vc, (circuit, lines))) = circuits.pop_first() {
            all.push(Port {
                name: name(vc),
                output_policy: lines.output_policy,
                // What arrives passes both, and marks alike whichever circuit it came by.
                input_policy: lines.input_policy.or(own.input_policy),
                circuit: Some((circuit, lines)),
                ..own.clone()
            });
        }
    }
    all
}

/// What holds for a circuit.
fn lines<'a>(
    config: &Config<'a>,
    interface: &Interface<'a>,
    circuit: &Circuit<'a>,
) -> CircuitLines<'a> {
    let main = parent(&interface.name)
        .and_then(|name| config.interface_index.get(name))
        .and_then(|i| config.interfaces.get(*i));
    let named = [
        circuit.class,
        interface.vc_class,
        main.and_then(|m| m.vc_class),
    ];
    let classes = named
        .into_iter()
        .flatten()
        .filter_map(|c| config.vc_classes.get(c.value));
    let mut all = circuit.lines.clone();
    for class in classes {
        let class = class.clone();
        all.contract = all.contract.or(class.contract);
        all.encapsulation = all.encapsulation.or(class.encapsulation);
        all.inside = all.inside.or(class.inside);
        all.output_policy = all.output_policy.or(class.output_policy);
        all.input_policy = all.input_policy.or(class.input_policy);
        all.hold_queue = all.hold_queue.or(class.hold_queue);
        all.tx_ring = all.tx_ring.or(class.tx_ring);
    }
    all.inside = all.inside.or(interface.inside);
    all
}

/// What is in the frames of a circuit, and where that is said.
pub(crate) fn framing<'a>(
    lines: &CircuitLines<'a>,
    circuit: &Circuit<'a>,
) -> (Framing, Origin<'a>) {
    let said = lines
        .encapsulation
        .map(|e| e.value)
        .unwrap_or(Encapsulation::Snap);
    let inside = lines.inside.map(|i| i.value);
    let framing = match (said, inside) {
        (Encapsulation::Mux(None), _) => Framing::Header(Header::VcMux),
        (Encapsulation::Mux(Some(Inside::Bridged)), _) => Framing::Overhead("bridged-vcmux"),
        (Encapsulation::Mux(Some(Inside::Pppoe)), _) => Framing::Overhead("pppoe-vcmux"),
        (Encapsulation::Mux(Some(Inside::Ppp)) | Encapsulation::CiscoPpp, _) => {
            Framing::Overhead("pppoa-vcmux")
        }
        (_, Some(Inside::Bridged)) => Framing::Overhead("bridged-llcsnap"),
        (_, Some(Inside::Pppoe)) => Framing::Overhead("pppoe-llcsnap"),
        (_, Some(Inside::Ppp)) => Framing::Overhead("pppoa-llc"),
        (_, None) => Framing::Header(Header::Llc),
    };
    let origin = lines
        .encapsulation
        .map(|e| e.origin)
        .or_else(|| lines.inside.map(|i| i.origin));
    (framing, origin.unwrap_or(circuit.origin))
}
