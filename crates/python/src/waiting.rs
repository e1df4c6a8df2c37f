//! Long work that a signal can end.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Between two looks for signals.
const LOOK: Duration = Duration::from_millis(50);
/// As much as a main thread has: trees are walked by recursion.
const STACK: usize = 8 << 20;

/// Does work in a thread of its own, without the interpreter, and gives what it gave; or what a
/// signal's handler raises meanwhile, such as `KeyboardInterrupt`. The work then goes on until the
/// process ends, and nobody waits for it.
pub(crate) fn waiting<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, result) = channel();
    let result = Mutex::new(result);
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || done.send(work()))?;
    loop {
        let look = || {
            let result = result.lock().unwrap_or_else(PoisonError::into_inner);
            result.recv_timeout(LOOK)
        };
        match py.detach(look) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            // It has panicked, and has said so.
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("a broken invariant"));
            }
        }
    }
}
