//! The traffic of a row's flows.

use std::sync::Arc;

use spillgate_core::Ecn;
use spillgate_core::Problem;
use spillgate_endpoints::source::spec::SourceSpec;
use spillgate_endpoints::tcp::{TcpConfig, TcpSpec};

use super::flows::{Checker, TCP};
use crate::codes;
use crate::error::Diagnostic;
use crate::node::{Step, steps};
use crate::plan::{Application, SessionsPlan, Traffic};
use crate::schema::{FlowSpec, SessionsSpec};

/// The most simultaneous sessions of a workload.
const MAX_ACTIVE: u32 = 100_000;

/// The traffic of the row's flows; none after an error.
pub(super) fn traffic(checker: &mut Checker<'_, '_>) -> Option<Traffic> {
    let row = checker.row;
    if let Some(sessions) = &row.sessions {
        return self::sessions(checker, sessions);
    }
    if let Some(capture) = &row.capture {
        return Some(Traffic::Replay(capture.plan()));
    }
    let spec = &row.spec;
    match (&spec.source, &spec.tcp) {
        (Some(source), None) => {
            checker.accept("source", source.check())?;
            if spec.bytes.is_some() {
                let d = Diagnostic::error(codes::BAD_SOURCE, "`bytes` is for a TCP connection")
                    .hint("bound a source in time by `stop`");
                checker.error(d, &steps!["bytes"]);
                return None;
            }
            Some(Traffic::Source(Arc::new(source.clone())))
        }
        (source, Some(tcp)) => {
            let checked = match source {
                Some(source) => checker.accept("source", source.check()),
                None => Some(()),
            };
            let config = connection(checker, spec, tcp)?;
            checked?;
            if let Some(SourceSpec::Backlogged(_)) = source {
                let d = Diagnostic::error(
                    codes::BAD_SOURCE,
                    "a connection does not wait for the fabric of a switch",
                )
                .hint(
                    "leave out `tcp`, or leave out `source` for a connection that always has data",
                );
                checker.error(d, &steps!["source", "backlogged"]);
                return None;
            }
            let application = match (source, spec.bytes) {
                (Some(source), _) => Application::Source(Arc::new(source.clone())),
                (None, Some(bytes)) => Application::Bytes(bytes.0),
                (None, None) => Application::Greedy,
            };
            Some(Traffic::Tcp {
                config,
                application,
            })
        }
        (None, None) => {
            let d = Diagnostic::error(codes::BAD_SOURCE, "the flow does not say what it sends")
                .hint(
                    "write a `source` such as {cbr: {rate: 1 Mb/s, packet: 1500 B}}, or `tcp: {}`",
                );
            checker.error(d, &[]);
            None
        }
    }
}

/// The parameters of a flow's connection; none if keys beside `tcp` contradict them.
fn connection(
    checker: &mut Checker<'_, '_>,
    spec: &FlowSpec,
    tcp: &TcpSpec,
) -> Option<Arc<TcpConfig>> {
    let config = checker.accept("tcp", tcp.resolve())?;
    let problem = if spec.bytes.is_some() && spec.source.is_some() {
        Some((
            "bytes",
            "`bytes` and `source` both say what the connection transfers",
            "leave one of the two out; `stop` bounds a source in time",
        ))
    } else if spec.bytes.is_some_and(|b| b.0 == 0) {
        Some((
            "bytes",
            "a transfer of 0 B",
            "write at least 1 B, or leave `bytes` out for one without end",
        ))
    } else if spec.protocol.is_some_and(|p| p != TCP) {
        Some((
            "protocol",
            "the protocol of a `tcp` flow is tcp",
            "leave `protocol` out",
        ))
    } else if spec.ecn != Ecn::NotEct {
        Some((
            "ecn",
            "TCP sets the ECN field itself",
            "write `ecn` inside `tcp`",
        ))
    } else {
        None
    };
    if let Some((key, message, hint)) = problem {
        let d = Diagnostic::error(codes::BAD_SOURCE, message).hint(hint);
        checker.error(d, &steps![key]);
        return None;
    }
    Some(Arc::new(config))
}

/// A workload of sessions; all errors in it are reported.
fn sessions(checker: &mut Checker<'_, '_>, spec: &SessionsSpec) -> Option<Traffic> {
    let arrivals = checker.accept("arrivals", spec.arrivals.check());
    let session = checker.accept("session", spec.session.check());
    let config = checker.accept("tcp", spec.tcp.resolve());
    if !(1..=MAX_ACTIVE).contains(&spec.active) {
        let message = format!("at most {} sessions at a time", spec.active);
        let d = Diagnostic::error(codes::OUT_OF_RANGE, message)
            .hint(format!("write a whole number from 1 to {MAX_ACTIVE}"));
        checker.error(d, &steps!["active"]);
        return None;
    }
    arrivals.and(session)?;
    Some(Traffic::Sessions(Arc::new(SessionsPlan {
        config: Arc::new(config?),
        arrivals: spec.arrivals.clone(),
        session: spec.session.clone(),
        active: spec.active,
    })))
}

impl Checker<'_, '_> {
    /// The value, or none after an error below `key`.
    fn accept<T>(&mut self, key: &str, checked: Result<T, Problem>) -> Option<T> {
        checked
            .map_err(|p| {
                let mut path = steps![key].to_vec();
                path.extend(Step::parse_all(&p.path));
                let d = Diagnostic::error(codes::BAD_SOURCE, p.message)
                    .found(p.found)
                    .hint(p.hint);
                self.error(d, &path);
            })
            .ok()
    }
}
