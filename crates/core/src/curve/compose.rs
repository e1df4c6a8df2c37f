//! One curve of another: what is served if of each amount that a server serves so much is left.

use num_traits::Zero;

use super::{Checked, Curve, Exact, Piece, UNITS, add, bytes, div, mul, sub};

impl Curve {
    /// What a queue is served of a service in which others take turns with it: at first they send
    /// `ahead` bytes, then it sends `first`, and after each `turn` bytes of its own they send
    /// `others`. After `rounds` of these the service goes on as the line through their ends, which
    /// is not above it. `first` is from 1 to `turn`.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn in_turns(
        &self,
        ahead: u64,
        first: u64,
        (turn, others): (u64, u64),
        rounds: usize,
    ) -> Checked<Self> {
        if others == 0 {
            return self.after_bytes(ahead);
        }
        let mut left = vec![];
        let (mut from, mut value, mut own) = (bytes(ahead), Exact::zero(), bytes(first));
        for _ in 0..rounds {
            // Its own bytes, then nothing while the others send.
            let slope = Exact::from_integer(1);
            left.push(Piece { from, value, slope });
            from = add(from, own)?;
            value = add(value, own)?;
            let slope = Exact::zero();
            left.push(Piece { from, value, slope });
            from = add(from, bytes(others))?;
            own = bytes(turn);
        }
        let slope = div(bytes(turn), add(bytes(turn), bytes(others))?)?;
        left.push(Piece { from, value, slope });
        Self::new(&left)?.of(self)
    }

    /// The value of this curve at that of `inner`, which counts as its time.
    fn of(&self, inner: &Self) -> Checked<Self> {
        let mut pieces: Vec<Piece> = Vec::new();
        for (i, piece) in inner.pieces.iter().enumerate() {
            let end = inner.pieces.get(i + 1).map(|next| piece.at(next.from));
            let end = end.transpose()?;
            let first = self.pieces.partition_point(|p| p.from <= piece.value);
            let begun = &self.pieces[first.max(1) - 1..];
            for (j, outer) in begun.iter().enumerate() {
                let (from, value) = match j {
                    0 => (piece.from, outer.at(piece.value)?),
                    _ if piece.slope.is_zero() || end.is_some_and(|e| outer.from >= e) => break,
                    _ => {
                        let later = div(sub(outer.from, piece.value)?, piece.slope)?;
                        (add(piece.from, later)?, outer.value)
                    }
                };
                let slope = mul(outer.slope, piece.slope)?;
                pieces.push(Piece { from, value, slope });
            }
        }
        Self::new(&pieces)
    }

    /// The largest curve below this one that is nothing up to some time and then rises at `slope`
    /// b/s: that time in ps. None if there is none.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn latency(&self, slope: Exact) -> Checked<Option<Exact>> {
        if slope > self.final_slope() || slope <= Exact::zero() {
            return Ok(None);
        }
        // The curve is furthest behind the line where a piece begins, or ends before the next.
        let mut latest = Exact::zero();
        for piece in &self.pieces {
            let value = self.at(piece.from)?.min(piece.value);
            latest = latest.max(sub(piece.from, div(value, slope)?)?);
        }
        Ok(Some(latest))
    }

    /// Nothing up to `latency` ps, then `slope` b/s; both at least 0.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn from_latency(latency: Exact, slope: Exact) -> Checked<Self> {
        Self::new(&[Piece {
            from: latency,
            value: Exact::zero(),
            slope,
        }])
    }
}

/// How long so many bytes take at a rate in b/s, in ps.
///
/// # Errors
/// If the rate is 0, or a number is too large.
pub fn time_of(bytes: Exact, rate: Exact) -> Checked<Exact> {
    div(mul(bytes, Exact::from_integer(UNITS))?, rate)
}
