//! A file's fingerprint, taken while it is read.

use std::io::{self, Read};

use spillgate_core::Digest;

/// Passes bytes on and takes their fingerprint, whatever the sizes of the reads.
pub struct Fingerprint<R> {
    inner: R,
    digest: Digest,
    /// The bytes of a word that is not whole yet, from the lowest.
    word: u64,
    len: u64,
}

impl<R: Read> Fingerprint<R> {
    /// Of what `inner` will give.
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            digest: Digest::default(),
            word: 0,
            len: 0,
        }
    }

    /// 32 hexadecimal digits of all bytes so far.
    pub fn hex(&self) -> String {
        let mut digest = self.digest;
        digest.word(self.word);
        digest.word(self.len);
        digest.hex()
    }

    /// Bytes so far.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there was nothing so far.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn take(&mut self, mut bytes: &[u8]) {
        while self.len % 8 != 0 {
            let Some((first, rest)) = bytes.split_first() else {
                return;
            };
            self.byte(*first);
            bytes = rest;
        }
        let words = bytes.chunks_exact(8);
        let rest = words.remainder();
        for word in words {
            let mut eight = [0; 8];
            eight.copy_from_slice(word);
            self.digest.word(u64::from_le_bytes(eight));
            self.len += 8;
        }
        rest.iter().for_each(|b| self.byte(*b));
    }

    fn byte(&mut self, b: u8) {
        self.word |= u64::from(b) << (8 * (self.len % 8));
        self.len += 1;
        if self.len % 8 == 0 {
            self.digest.word(std::mem::take(&mut self.word));
        }
    }
}

impl<R: Read> Read for Fingerprint<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(into)?;
        self.take(&into[..n]);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_of_any_size_give_the_same() {
        let bytes: Vec<u8> = (0..1000_u32).map(|i| (i * 7) as u8).collect();
        let of = |bytes: &[u8], step: usize| {
            let mut print = Fingerprint::new(bytes);
            let mut into = vec![0; step];
            while print.read(&mut into).unwrap() > 0 {}
            print.hex()
        };
        let whole = of(&bytes, 1000);
        for step in [1, 3, 8, 13, 64] {
            assert_eq!(of(&bytes, step), whole);
        }
        assert_ne!(of(&bytes[..999], 10), whole);
        // A trailing zero byte is content.
        assert_ne!(of(&[1], 10), of(&[1, 0], 10));
    }
}
