//! Lists that belong to one link, or to several.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::lists::FlowList;

/// The protected flow lists that links of one world share, by name. Each world begins with
/// none, so that no run sees another's.
#[derive(Debug, Default)]
pub struct SharedLists(BTreeMap<String, Arc<Mutex<FlowList>>>);

impl SharedLists {
    /// No lists yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The list of this name, which is as `list` if it is new.
    pub(crate) fn get(&mut self, name: &str, list: &FlowList) -> Arc<Mutex<FlowList>> {
        let list = || Arc::new(Mutex::new(list.clone()));
        let shared = self.0.entry(name.to_owned()).or_insert_with(list);
        Arc::clone(shared)
    }
}

/// A link's way to its list. The links of a world run in one thread, so nobody ever waits.
#[derive(Debug)]
pub(crate) enum Access {
    Own(Box<FlowList>),
    Shared(Arc<Mutex<FlowList>>),
}

impl Clone for Access {
    /// A copy has a list of its own: what happens to it must not be seen by the links that share
    /// the original's.
    fn clone(&self) -> Self {
        match self {
            Self::Own(list) => Self::Own(list.clone()),
            Self::Shared(list) => {
                let copy = lock(list).clone();
                Self::Shared(Arc::new(Mutex::new(copy)))
            }
        }
    }
}

fn lock(list: &Mutex<FlowList>) -> MutexGuard<'_, FlowList> {
    // A panic elsewhere leaves nothing half done that a run could go on with.
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Access {
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_))
    }

    #[inline]
    pub(crate) fn with<R>(&mut self, f: impl FnOnce(&mut FlowList) -> R) -> R {
        match self {
            Self::Own(list) => f(list),
            Self::Shared(list) => f(&mut lock(list)),
        }
    }

    pub(crate) fn see<R>(&self, f: impl FnOnce(&FlowList) -> R) -> R {
        match self {
            Self::Own(list) => f(list),
            Self::Shared(list) => f(&lock(list)),
        }
    }
}
