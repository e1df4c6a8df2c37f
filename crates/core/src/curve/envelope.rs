//! The lowest or highest of many segments at each time: what convolution and deconvolution of
//! piecewise-linear curves come to.
//!
//! A curve that increases and is continuous from the left is the minimum of its closed segments, so
//! segments are closed here. A result is read between their ends only, where closed or open makes
//! no difference.

use num_traits::Zero;

use super::{Checked, Curve, Exact, Piece, add, div, mul, sub};

/// A line over a time, both ends included; one without an end goes on for ever.
#[derive(Clone, Copy)]
pub(super) struct Segment {
    line: Piece,
    until: Option<Exact>,
}

/// Which of the segments counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Lower,
    Upper,
}

impl Side {
    /// Whether `a` is further out than `b`.
    fn beats<T: Ord>(self, a: T, b: T) -> bool {
        match self {
            Self::Lower => a < b,
            Self::Upper => a > b,
        }
    }
}

/// The segments of a curve, with the point at 0.
fn segments(curve: &Curve) -> Vec<Segment> {
    let zero = Exact::zero();
    let origin = Segment {
        line: Curve::zero().pieces[0],
        until: Some(zero),
    };
    let ends = curve.pieces.iter().skip(1).map(|p| Some(p.from));
    let lines = curve.pieces.iter().zip(ends.chain([None]));
    let own = lines.map(|(line, until)| Segment { line: *line, until });
    std::iter::once(origin).chain(own).collect()
}

/// A segment of `first` from `from` and `value` on, then one of `second`.
fn chain(
    from: Exact,
    value: Exact,
    first: (Exact, Option<Exact>),
    second: (Exact, Option<Exact>),
    out: &mut Vec<Segment>,
) -> Checked<()> {
    let mut start = Piece {
        from,
        value,
        slope: first.0,
    };
    let Some(length) = first.1 else {
        out.push(Segment {
            line: start,
            until: None,
        });
        return Ok(());
    };
    let turn = add(from, length)?;
    out.push(Segment {
        line: start,
        until: Some(turn),
    });
    start = Piece {
        from: turn,
        value: start.at(turn)?,
        slope: second.0,
    };
    let until = second.1.map(|length| add(turn, length)).transpose()?;
    out.push(Segment { line: start, until });
    Ok(())
}

fn length(s: &Segment) -> Checked<Option<Exact>> {
    s.until.map(|u| sub(u, s.line.from)).transpose()
}

/// The sums of all segments at all times: two segments one after another, the flatter first.
pub(super) fn sums(a: &Curve, b: &Curve) -> Checked<Vec<Segment>> {
    let mut all = Vec::new();
    for x in &segments(a) {
        for y in &segments(b) {
            let from = add(x.line.from, y.line.from)?;
            let value = add(x.line.value, y.line.value)?;
            let x = (x.line.slope, length(x)?);
            let y = (y.line.slope, length(y)?);
            let (flat, steep) = if x.0 <= y.0 { (x, y) } else { (y, x) };
            chain(from, value, flat, steep, &mut all)?;
        }
    }
    Ok(all)
}

/// The differences of all segments at all times, of which the largest count: `b` turned around,
/// the steeper first.
pub(super) fn differences(a: &Curve, b: &Curve) -> Checked<Vec<Segment>> {
    // `b` rises at least as fast as `a` after this, so the largest difference is before.
    let end = a.last().from.max(b.last().from);
    let mut all = Vec::new();
    for x in &segments(a) {
        for y in &segments(b) {
            let until = y.until.unwrap_or(end);
            let from = sub(x.line.from, until)?;
            let value = sub(x.line.value, y.line.at(until)?)?;
            let x = (x.line.slope, length(x)?);
            let y = (y.line.slope, Some(sub(until, y.line.from)?));
            let (flat, steep) = if x.0 <= y.0 { (x, y) } else { (y, x) };
            chain(from, value, steep, flat, &mut all)?;
        }
    }
    Ok(all)
}

/// The curve of the outermost values after 0.
pub(super) fn envelope(segments: &[Segment], side: Side) -> Checked<Curve> {
    let ends = segments
        .iter()
        .flat_map(|s| [Some(s.line.from), s.until])
        .flatten();
    let mut ends: Vec<Exact> = ends.filter(|e| *e > Exact::zero()).collect();
    ends.push(Exact::zero());
    ends.sort_unstable();
    ends.dedup();
    let mut curve = Curve { pieces: Vec::new() };
    for (i, &from) in ends.iter().enumerate() {
        let until = ends.get(i + 1).copied();
        let holds = |s: &&Segment| {
            let reaches = match (s.until, until) {
                (None, _) => true,
                (Some(s), Some(until)) => s >= until,
                (Some(_), None) => false,
            };
            s.line.from <= from && reaches
        };
        let lines = segments.iter().filter(holds).map(|s| {
            let value = s.line.at(from)?;
            Ok(Piece {
                from,
                value,
                slope: s.line.slope,
            })
        });
        between(
            &lines.collect::<Checked<Vec<_>>>()?,
            until,
            side,
            &mut curve,
        )?;
    }
    Ok(curve)
}

/// Adds the outermost of some lines from where all of them begin.
pub(super) fn between(
    lines: &[Piece],
    until: Option<Exact>,
    side: Side,
    curve: &mut Curve,
) -> Checked<()> {
    let outermost = |best: &Piece, p: &Piece| {
        side.beats(p.value, best.value) || p.value == best.value && side.beats(p.slope, best.slope)
    };
    let better = |best: Piece, p: &Piece| if outermost(&best, p) { *p } else { best };
    let Some((first, rest)) = lines.split_first() else {
        return Ok(());
    };
    let mut now = rest.iter().fold(*first, better);
    loop {
        curve.push(now)?;
        // The first line that crosses this one; of several the one that leads away furthest.
        let mut next: Option<Piece> = None;
        for line in lines.iter().filter(|l| side.beats(l.slope, now.slope)) {
            let gap = sub(now.value, line.at(now.from)?)?;
            let from = add(now.from, div(gap, sub(line.slope, now.slope)?)?)?;
            if until.is_some_and(|u| from >= u) {
                continue;
            }
            let value = add(now.value, mul(now.slope, sub(from, now.from)?)?)?;
            let met = Piece {
                from,
                value,
                slope: line.slope,
            };
            let sooner = next
                .as_ref()
                .is_none_or(|n| from < n.from || from == n.from && side.beats(met.slope, n.slope));
            if sooner {
                next = Some(met);
            }
        }
        match next {
            Some(met) => now = met,
            None => return Ok(()),
        }
    }
}
