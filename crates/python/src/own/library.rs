//! AQMs that are compiled: the C interface of `spillgate_aqm.h`, by a shared library or by the
//! addresses of two of its functions.
#![allow(
    unsafe_code,
    reason = "functions of others are called; what they must keep is in the header"
)]

use std::ffi::{CString, c_char, c_void};
use std::fmt;
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use libloading::Library;
use serde_json::{Map, Value};
use spillgate_core::{DropReason, Limit, Packet, Rate, Time, Verdict};
use spillgate_queueing::{Backlog, CustomAqm, Draw, OwnPart, OwnQueue, fail};

use super::Onlooker;

/// `SPILLGATE_AQM_VERSION`.
const VERSION: u32 = 1;
/// `SPILLGATE_NEVER`.
const NEVER: u64 = u64::MAX;

/// `spillgate_packet`.
#[repr(C)]
struct PacketView {
    arrived_ps: u64,
    flow: u32,
    number: u32,
    bytes: u32,
    ip_bytes: u16,
    dscp: u8,
    ecn: u8,
}

/// `spillgate_queue`.
#[repr(C)]
struct QueueView {
    now_ps: u64,
    head_ps: u64,
    idle_since_ps: u64,
    bytes: u64,
    rate: f64,
    drain_rate: f64,
    packets: u32,
    limit: u32,
    random: unsafe extern "C" fn(*const Self) -> f64,
    stream: *mut c_void,
}

type Version = unsafe extern "C" fn() -> u32;
type New = unsafe extern "C" fn(*const c_char, *const QueueView) -> *mut c_void;
type Judge = unsafe extern "C" fn(*mut c_void, *const PacketView, *const QueueView) -> i32;
type Free = unsafe extern "C" fn(*mut c_void);

/// The next number of the stream of the queue that a function was given.
unsafe extern "C" fn random(queue: *const QueueView) -> f64 {
    // SAFETY: the header allows the call with the queue that a function was given, while that
    // runs: `Live::ask` then holds both the queue and, unless it is null, what `stream` points to,
    // and uses neither.
    unsafe {
        let draw = (*queue).stream.cast::<&mut dyn Draw>();
        draw.as_mut().map_or(f64::NAN, |draw| draw.draw())
    }
}

/// Where the state of a queue comes from.
enum States {
    /// From the library, which stays loaded as long as this lives.
    Library {
        new: New,
        free: Free,
        _loaded: Library,
    },
    /// So many words of zeros.
    Zeros(usize),
}

/// The functions of an AQM.
pub(super) struct Functions {
    name: String,
    identity: String,
    states: States,
    enqueue: Option<Judge>,
    dequeue: Option<Judge>,
}

impl Functions {
    /// Those of a shared library.
    ///
    /// # Errors
    /// If it cannot be loaded, lacks a function, or is of another version of the interface.
    pub(super) fn load(name: &str, path: &Path, identity: String) -> Result<Self, String> {
        let shown = path.display();
        // SAFETY: a library that is loaded runs its initializers, as the user asked for.
        let library = unsafe { Library::new(path) }
            .map_err(|why| format!("the library of `{name}` cannot be loaded: {why}"))?;
        /// A function of the library by its name.
        ///
        /// # Safety
        /// It must have the type `T`.
        unsafe fn function<T: Copy>(
            library: &Library,
            shown: &str,
            name: &str,
        ) -> Result<T, String> {
            // SAFETY: the caller's.
            let found = unsafe { library.get::<T>(name.as_bytes()) };
            found
                .map(|f| *f)
                .map_err(|_| format!("{shown} has no function `{name}`; see spillgate_aqm.h"))
        }
        let shown = shown.to_string();
        // SAFETY: the header gives these functions these types; `version` is looked at before
        // another is called, and says that the header was this one.
        unsafe {
            let version: Version = function(&library, &shown, "spillgate_aqm_version")?;
            let version = version();
            if version != VERSION {
                return Err(format!(
                    "{shown} has version {version} of the interface, this Spillgate has {VERSION}: build it with its header"
                ));
            }
            Ok(Self {
                name: name.to_owned(),
                identity,
                enqueue: Some(function(&library, &shown, "spillgate_aqm_enqueue")?),
                dequeue: Some(function(&library, &shown, "spillgate_aqm_dequeue")?),
                states: States::Library {
                    new: function(&library, &shown, "spillgate_aqm_new")?,
                    free: function(&library, &shown, "spillgate_aqm_free")?,
                    _loaded: library,
                },
            })
        }
    }

    /// Those at two addresses, of which one may be 0, with a state of so many bytes of zeros.
    ///
    /// # Errors
    /// If both are 0.
    pub(super) fn at(
        name: &str,
        (enqueue, dequeue, bytes): (usize, usize, usize),
        identity: String,
    ) -> Result<Self, String> {
        if enqueue == 0 && dequeue == 0 {
            return Err(format!("the AQM `{name}` has no function"));
        }
        // SAFETY: who gives an address says that it is that of such a function, which lives as
        // long as the process; an address of 0 is none.
        let judge = |address: usize| unsafe {
            std::mem::transmute::<*const c_void, Option<Judge>>(ptr::with_exposed_provenance(
                address,
            ))
        };
        Ok(Self {
            name: name.to_owned(),
            identity,
            enqueue: judge(enqueue),
            dequeue: judge(dequeue),
            states: States::Zeros(bytes.div_ceil(size_of::<u64>())),
        })
    }
}

/// Makes AQMs of functions.
pub(super) struct Compiled(pub(super) Arc<Functions>);

impl OwnPart<dyn CustomAqm> for Compiled {
    fn identity(&self) -> String {
        self.0.identity.clone()
    }

    fn make(
        &self,
        settings: &Map<String, Value>,
        queue: &OwnQueue,
    ) -> Result<Box<dyn CustomAqm>, String> {
        if matches!(self.0.states, States::Zeros(_)) && !settings.is_empty() {
            return Err("functions at addresses take no settings".to_owned());
        }
        let text = Value::Object(settings.clone()).to_string();
        let aqm = Of {
            functions: Arc::clone(&self.0),
            settings: CString::new(text).map_err(|why| why.to_string())?,
            queue: *queue,
            idle_since: NEVER,
            state: None,
        };
        // Whether it takes these settings shows before anything runs.
        aqm.begin()?;
        Ok(Box::new(aqm))
    }
}

/// The state of a queue, of the library or of ours.
enum State {
    Theirs(*mut c_void, Free),
    Ours(Box<[u64]>),
}

// SAFETY: the header says that a queue is served by one thread at a time, whichever it is.
unsafe impl Send for State {}
// SAFETY: nothing is called with a state that is only borrowed.
unsafe impl Sync for State {}

impl Drop for State {
    fn drop(&mut self) {
        if let Self::Theirs(state, free) = self {
            // SAFETY: it came from the `new` of the same library, which `Of` keeps loaded, and is
            // ended once.
            unsafe { free(*state) }
        }
    }
}

/// The AQM of one queue. Its state is ended before its functions are let go: fields are dropped in
/// order.
struct Of {
    /// From its first packet on.
    state: Option<State>,
    functions: Arc<Functions>,
    settings: CString,
    queue: OwnQueue,
    idle_since: u64,
}

impl fmt::Debug for Of {
    // What it is decides what it does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.functions.identity, self.settings)
    }
}

impl Of {
    fn view(&self, now: Time, backlog: &Backlog, stream: *mut c_void) -> QueueView {
        QueueView {
            now_ps: now.as_ps(),
            head_ps: backlog.head.map_or(NEVER, Time::as_ps),
            idle_since_ps: self.idle_since,
            bytes: backlog.bytes,
            rate: self.queue.rate.bps() as f64,
            drain_rate: backlog.drain_rate.unwrap_or(0.0),
            packets: backlog.packets,
            limit: match self.queue.limit {
                Some(Limit::Packets(n)) => n,
                _ => 0,
            },
            random,
            stream,
        }
    }

    /// A new state.
    fn begin(&self) -> Result<State, String> {
        match &self.functions.states {
            States::Zeros(words) => Ok(State::Ours(vec![0; *words].into())),
            States::Library { new, free, .. } => {
                let view = self.view(Time::ZERO, &Backlog::default(), ptr::null_mut());
                // SAFETY: both arguments outlive the call; the types are the header's.
                let state = unsafe { new(self.settings.as_ptr(), &raw const view) };
                match state.is_null() {
                    true => Err("its library has no AQM with these settings".to_owned()),
                    false => Ok(State::Theirs(state, *free)),
                }
            }
        }
    }

    /// What a function says of a packet.
    fn ask(
        &mut self,
        judge: Option<Judge>,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut dyn Draw,
    ) -> Verdict {
        let Some(judge) = judge else {
            return Verdict::Pass;
        };
        if self.state.is_none() {
            let begun = self.begin();
            self.state = Some(begun.unwrap_or_else(|why| fail(why)));
        }
        let mut draw = draw;
        let queue = self.view(now, backlog, (&raw mut draw).cast());
        let packet = PacketView {
            arrived_ps: packet.arrived.as_ps(),
            flow: packet.flow,
            number: packet.seq,
            bytes: packet.len,
            ip_bytes: packet.l3_len,
            dscp: packet.dscp.value(),
            ecn: packet.ecn as u8,
        };
        let state = match &mut self.state {
            Some(State::Theirs(state, _)) => *state,
            Some(State::Ours(words)) => words.as_mut_ptr().cast(),
            None => ptr::null_mut(),
        };
        // SAFETY: the state is that of this queue, and all arguments outlive the call; the types
        // are the header's. `draw` is used by `random` alone meanwhile.
        let answer = unsafe { judge(state, &raw const packet, &raw const queue) };
        match answer {
            0 => Verdict::Pass,
            1 => Verdict::Mark,
            2 => Verdict::Drop(DropReason::Early),
            3 => Verdict::Drop(DropReason::Forced),
            _ => fail(format!(
                "`{}` returned {answer}; it returns SPILLGATE_PASS, MARK, DROP or FORCED (0 to 3)",
                self.functions.name
            )),
        }
    }
}

impl CustomAqm for Of {
    fn arrival(
        &mut self,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut dyn Draw,
    ) -> Verdict {
        self.ask(self.functions.enqueue, now, backlog, packet, draw)
    }

    fn departure(
        &mut self,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut dyn Draw,
    ) -> Verdict {
        self.ask(self.functions.dequeue, now, backlog, packet, draw)
    }

    fn set_rate(&mut self, rate: Rate) {
        self.queue.rate = rate;
    }

    fn emptied(&mut self, at: Time) {
        self.idle_since = at.as_ps();
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        if self.state.is_some() {
            return Box::new(Onlooker);
        }
        Box::new(Self {
            state: None,
            functions: Arc::clone(&self.functions),
            settings: self.settings.clone(),
            queue: self.queue,
            idle_since: self.idle_since,
        })
    }
}
