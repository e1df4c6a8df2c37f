//! A long-lived vector in large pages of memory.

use std::ops::{Deref, DerefMut};

use aligned_vec::{AVec, RuntimeAlign};

/// A large page of x86-64 and of 64-bit ARM, in bytes.
const LARGE_PAGE: usize = 2 << 20;
/// Alignment of smaller tables: a line of the cache.
const LINE: usize = 64;

/// A vector that lies in large pages (2 MB instead of 4 kB) where it fills any and the operating
/// system agrees.
///
/// Whoever looks up entries all over tables of many megabytes waits for the translation of
/// addresses; with large pages the processor remembers all of it. A hint: nothing that a program
/// computes depends on it. It works on Linux where transparent huge pages are at `madvise`, as in
/// most distributions, or at `always`; elsewhere only the alignment remains.
#[derive(Debug)]
pub struct Table<T>(AVec<T, RuntimeAlign>);

impl<T> Table<T> {
    /// An empty table with room for `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        let bytes = capacity.saturating_mul(size_of::<T>());
        let align = if bytes < LARGE_PAGE { LINE } else { LARGE_PAGE };
        let table = AVec::with_capacity(align, capacity);
        // Before the first entry: pages that are in use stay as they are.
        if align == LARGE_PAGE {
            advise(table.as_ptr(), bytes);
        }
        Self(table)
    }

    /// Adds an entry at the end.
    #[inline]
    pub fn push(&mut self, entry: T) {
        if self.0.len() == self.0.capacity() {
            self.grow();
        }
        self.0.push(entry);
    }

    #[cold]
    fn grow(&mut self) {
        let mut more = Self::with_capacity(2 * self.len().max(32));
        more.0.append(&mut self.0);
        *self = more;
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self::with_capacity(0)
    }
}

impl<T> Extend<T> for Table<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, entries: I) {
        entries.into_iter().for_each(|e| self.push(e));
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<'a, T> IntoIterator for &'a Table<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Table<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// Asks for large pages for the `bytes` from `start` on, which begins a page.
#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "the system call takes an address, for which there is no safe form"
)]
fn advise<T>(start: *const T, bytes: usize) {
    use rustix::mm::{Advice, madvise};

    // SAFETY: whatever lies at these addresses keeps its contents and its rights; the advice only
    // moves it to other physical memory, which no program can tell. Here it is memory that a vector
    // owns and has not filled yet.
    let agreed = unsafe { madvise(start.cast_mut().cast(), bytes, Advice::LinuxHugepage) };
    // A kernel without large pages refuses, and all goes on as before.
    let _ = agreed;
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: *const T, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_a_vector() {
        for room in [0, 1, 1 << 10, 1 << 20] {
            let mut t = Table::with_capacity(room);
            assert!(t.is_empty());
            // More than there is room for.
            t.extend(0..3 * room as u64 + 100);
            assert!(t.iter().zip(0..).all(|(a, b)| *a == b));
            assert_eq!(t.len(), 3 * room + 100);
            t[7] = 70;
            assert_eq!((t[7], t.last()), (70, Some(&(3 * room as u64 + 99))));
        }
    }

    #[test]
    fn entries_are_dropped_once() {
        let entry = std::sync::Arc::new(());
        let mut t = Table::with_capacity(3);
        t.extend((0..100).map(|_| entry.clone()));
        assert_eq!(std::sync::Arc::strong_count(&entry), 101);
        drop(t);
        assert_eq!(std::sync::Arc::strong_count(&entry), 1);
    }

    /// The kernel has taken the hint, if it is one that takes hints.
    #[test]
    #[cfg(target_os = "linux")]
    fn the_kernel_is_told() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            eprintln!("SKIPPED: this kernel has no transparent huge pages");
            return;
        }
        let large = Table::<u64>::with_capacity(1 << 20);
        let small = Table::<u64>::with_capacity(1 << 10);
        assert!(flags(&large).contains(" hg"), "{}", flags(&large));
        assert!(!flags(&small).contains(" hg"), "{}", flags(&small));
    }

    /// The flags of the mapping that a table begins in.
    #[cfg(target_os = "linux")]
    fn flags(table: &[u64]) -> String {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        // A line `from-to ...` begins a mapping, `VmFlags:` ends it.
        let holds = |line: &str| {
            let range = line.split(' ').next()?.split_once('-')?;
            let number = |s| usize::from_str_radix(s, 16).ok();
            Some((number(range.0)?..number(range.1)?).contains(&table.as_ptr().addr()))
        };
        let mapping = maps.lines().skip_while(|l| holds(l) != Some(true));
        let mut ends = mapping.filter(|l| l.starts_with("VmFlags:"));
        ends.next().unwrap().to_owned()
    }
}
