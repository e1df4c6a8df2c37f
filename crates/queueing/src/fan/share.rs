//! Protected flow lists of one link, or shared by several.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::lists::FlowList;

/// The protected flow lists that links of one world share, by name. Each world starts with none, so
/// that runs are independent.
#[derive(Debug, Default)]
pub struct SharedLists(BTreeMap<String, Arc<Mutex<FlowList>>>);

impl SharedLists {
    /// No lists yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The list with this name, added as a copy of `list` if it is new.
    pub(crate) fn get(&mut self, name: &str, list: &FlowList) -> Arc<Mutex<FlowList>> {
        let list = || Arc::new(Mutex::new(list.clone()));
        let shared = self.0.entry(name.to_owned()).or_insert_with(list);
        Arc::clone(shared)
    }
}

/// A link's access to its list. The links of a world run in one thread, so the lock is never
/// contended.
#[derive(Debug)]
pub(crate) enum Access {
    Own(Box<FlowList>),
    Shared(Arc<Mutex<FlowList>>),
}

impl Clone for Access {
    /// A copy has a list of its own, so that it does not change that of the links that share the
    /// original.
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
    // After a panic elsewhere no run continues with this list.
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
