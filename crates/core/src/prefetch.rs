//! A hint to the processor's cache.

/// Asks the processor to bring `value` into its cache while it does other work.
///
/// A hint: nothing that a program computes depends on it. It works on x86-64 and does nothing
/// elsewhere.
#[inline]
#[allow(
    unsafe_code,
    reason = "the standard library has no safe form of the instruction"
)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let start = std::ptr::from_ref(value).cast::<i8>();
        for at in (0..size_of::<T>()).step_by(LINE) {
            // SAFETY: the instruction reads nothing that the program could observe and never
            // faults, whatever the address; this one lies within `value`. SSE, which has it, is
            // part of x86-64.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(at)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
