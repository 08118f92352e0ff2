//! Locks without poisoning: what they guard is whole between any two statements, so a panic elsewhere is no reason
//! to fail here.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
