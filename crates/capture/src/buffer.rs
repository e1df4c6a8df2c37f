//! Bounded read-ahead that knows where in the file it is.

use std::io::{ErrorKind, Read};

use crate::error::CaptureError;

/// What is read ahead, in bytes.
const READ_AHEAD: usize = 256 * 1024;

/// A window onto a stream of bytes.
pub(crate) struct Buffer<R> {
    inner: R,
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
    /// Of `begin`, in the file.
    offset: u64,
    at_end: bool,
}

impl<R: Read> Buffer<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self {
            inner,
            bytes: vec![0; READ_AHEAD],
            begin: 0,
            end: 0,
            offset: 0,
            at_end: false,
        }
    }

    /// Bytes of the file that were consumed.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Makes `n` bytes available, or as many as the file still has; how many there are.
    #[inline]
    pub(crate) fn want(&mut self, n: usize) -> Result<usize, CaptureError> {
        if self.end - self.begin < n {
            self.fill(n)?;
        }
        Ok(self.end - self.begin)
    }

    #[cold]
    fn fill(&mut self, n: usize) -> Result<(), CaptureError> {
        self.bytes.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        if self.bytes.len() < n {
            self.bytes.resize(n, 0);
        }
        while self.end < n && !self.at_end {
            match self.inner.read(&mut self.bytes[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(read) => self.end += read,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(CaptureError::io(self.offset + self.end as u64, &e)),
            }
        }
        Ok(())
    }

    /// What is available.
    #[inline]
    pub(crate) fn data(&self) -> &[u8] {
        &self.bytes[self.begin..self.end]
    }

    /// The `n` bytes before the present place, which were consumed last.
    #[inline]
    pub(crate) fn consumed(&self, n: usize) -> &[u8] {
        &self.bytes[self.begin - n..self.begin]
    }

    /// Goes on by `n` bytes, which are available.
    #[inline]
    pub(crate) fn consume(&mut self, n: usize) {
        let n = n.min(self.end - self.begin);
        self.begin += n;
        self.offset += n as u64;
    }

    /// Goes on by `n` bytes without keeping them; how many of them the file did not have.
    pub(crate) fn skip(&mut self, mut n: u64) -> Result<u64, CaptureError> {
        while n > 0 {
            let there = self.want(1)?;
            if there == 0 {
                break;
            }
            let step = n.min(there as u64);
            self.consume(step as usize);
            n -= step;
        }
        Ok(n)
    }
}
