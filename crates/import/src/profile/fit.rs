//! Fits a source to measured traffic.
//!
//! Sources are tried in this order. Nearly equal gaps: a constant rate. Several flows whose sum is
//! smoother than Poisson arrivals: as many constant rates. Equal gaps except for long silences:
//! bursts (on-off). An index of dispersion of 1 at every length, or smoother traffic that fits
//! nothing else: Poisson. Burstier traffic: an MMPP-2, whose index of dispersion is fitted to the
//! measured ones by least squares of the relative error (Heffes and Lucantoni 1986 do so by
//! moments). All keep the mean rate and the sizes.
//!
//! The probability of the high rate of the MMPP is the largest, up to one half, at which the low
//! rate is not negative: the dispersion does not determine it, and the least extreme value is
//! assumed.
//!
//! The quality of the fit is measured, not computed: the source runs for as long as the capture, or
//! half a million packets, and is measured by the same code.

use serde::Serialize;
use spillgate_core::{Dur, Percent, Rate, Rng, Size, Time, math};
use spillgate_endpoints::source::Source;
use spillgate_endpoints::source::spec::{
    CbrSpec, MmppSpec, OnOffSpec, PacketSizeSpec, PeriodDistribution, PoissonSpec, SourceSpec,
    WeightedSize,
};

use super::shape::{Dispersion, Meter, Shape};

/// The least number of packets for a fit.
const MIN_PACKETS: u64 = 20;
/// Packets of the run that checks a fit.
const CHECKED: f64 = 500_000.0;
/// Rows of a table of sizes.
const ROWS: usize = 64;
/// Gaps within 50 % to both sides of a place in a grid have at most this squared coefficient of
/// variation: the difference of two uniform displacements of half a gap has variance 1/6.
const GRID_CV2: f64 = 1.0 / 6.0 + 0.04;

/// A fitted source.
#[derive(Clone, Debug, Serialize)]
pub struct Fit {
    /// The number of sources, each with its own random stream.
    pub count: u32,
    /// One of these sources.
    pub source: SourceSpec,
    /// The reason for this kind.
    pub why: String,
    /// The quality of the fit.
    pub check: FitCheck,
}

/// The measurements of all these sources together.
#[derive(Clone, Debug, Serialize)]
pub struct FitCheck {
    /// Their rate over the measured one.
    pub rate: f64,
    /// Index of dispersion at the lengths of the measured ones.
    pub dispersion: Vec<Dispersion>,
    /// The depth that a token bucket at 1.5 times the mean rate needs, in bytes.
    pub burst: Option<f64>,
}

/// The source that fits `shape` best; `alike`: the equivalent number of equal flows.
pub(super) fn fit(shape: &Shape, alike: u32) -> Option<Fit> {
    let rate = shape.rate.filter(|_| shape.packets >= MIN_PACKETS)?;
    let (count, source, why) = choose(shape, rate, alike.clamp(1, 10_000))?;
    let check = check(shape, rate, count, &source);
    Some(Fit {
        count,
        source,
        why,
        check,
    })
}

fn choose(shape: &Shape, rate: f64, alike: u32) -> Option<(u32, SourceSpec, String)> {
    let packet = sizes(shape);
    let bps = |r: f64| Rate::from_bps((r + 0.5).max(1.0) as u64);
    let cbr = |count: u32, jitter: f64| {
        Some(SourceSpec::Cbr(CbrSpec {
            rate: bps(rate / f64::from(count))?,
            packet: packet.clone(),
            phase: None,
            jitter: Percent(jitter),
        }))
    };
    let cv2 = shape.gap_cv2?;
    if cv2 <= GRID_CV2 {
        // Displacements of `j` gaps to both sides give the gaps a variance of 2 j^2 / 3.
        let jitter = math_floor_percent((1.5 * cv2).sqrt().min(0.5));
        let why = format!("gaps are nearly alike: squared coefficient of variation {cv2:.3}");
        return Some((1, cbr(1, jitter)?, why));
    }
    let longest: Vec<&Dispersion> = shape.dispersion.iter().rev().take(2).collect();
    if alike > 1 && !longest.is_empty() && longest.iter().all(|d| d.packets < 0.5) {
        let why = format!("evener than Poisson arrivals and as uneven as {alike} equal flows");
        return Some((alike, cbr(alike, 0.0)?, why));
    }
    if let Some(found) = bursts(shape, rate, &packet) {
        return Some(found);
    }
    let poisson = || {
        Some(SourceSpec::Poisson(PoissonSpec {
            rate: bps(rate)?,
            packet: packet.clone(),
        }))
    };
    // Of n windows of Poisson arrivals the index has a standard error of sqrt(2 / (n - 1)).
    let error = |d: &Dispersion| (2.0 / (d.windows as f64 - 1.0)).sqrt();
    let is_one = |d: &Dispersion| (d.packets - 1.0).abs() <= 3.0 * error(d) + 0.1;
    if shape.dispersion.iter().all(is_one) {
        let why = "the index of dispersion is about 1 at every length".to_owned();
        return Some((1, poisson()?, why));
    }
    match modulated(shape, &packet) {
        Some(spec) => {
            let most = shape
                .dispersion
                .iter()
                .map(|d| d.packets)
                .fold(0.0, f64::max);
            let why = format!("the index of dispersion grows to {most:.1}");
            Some((1, spec, why))
        }
        None => {
            let why =
                "evener than Poisson arrivals: this source is burstier than what was measured";
            Some((1, poisson()?, why.to_owned()))
        }
    }
}

/// A share as a whole number of percent, rounded down.
fn math_floor_percent(share: f64) -> f64 {
    f64::from((share * 100.0) as u32) / 100.0
}

/// Sizes as a table of at most [`ROWS`] rows; neighboring sizes join at their mean.
fn sizes(shape: &Shape) -> PacketSizeSpec {
    if let [only] = &shape.sizes[..] {
        return PacketSizeSpec::Fixed(Size(u64::from(only.size)));
    }
    let row = |sum: u64, packets: u64| WeightedSize {
        size: Size((sum + packets / 2) / packets.max(1)),
        weight: packets as f64,
    };
    let mut rows: Vec<WeightedSize> = Vec::with_capacity(ROWS);
    if shape.sizes.len() <= ROWS {
        rows.extend(
            shape
                .sizes
                .iter()
                .map(|s| row(u64::from(s.size) * s.packets, s.packets)),
        );
    } else {
        // As many packets in each row, the last one aside.
        let each = shape.packets.div_ceil(ROWS as u64);
        let (mut sum, mut packets) = (0, 0);
        for s in &shape.sizes {
            sum += u64::from(s.size) * s.packets;
            packets += s.packets;
            if packets >= each {
                rows.push(row(sum, packets));
                (sum, packets) = (0, 0);
            }
        }
        if packets > 0 {
            rows.push(row(sum, packets));
        }
    }
    PacketSizeSpec::Table(rows)
}

/// Bursts at a constant rate between exponential silences.
///
/// Silences are recognized where they stretch a gap to one and a half; what an exponential silence
/// has beyond any limit has the mean of the whole, so no shorter ones are missed in the mean, and
/// their number follows.
fn bursts(shape: &Shape, rate: f64, packet: &PacketSizeSpec) -> Option<(u32, SourceSpec, String)> {
    let gaps = &shape.gaps;
    let (share, gap) = gaps.mode();
    let mean = gaps.mean();
    if share < 0.6 || gap > 0.7 * mean || gap <= 0.0 {
        return None;
    }
    let (found, off, limit) = gaps.above(1.5 * gap);
    if found < 10 || off <= 0.0 {
        return None;
    }
    let silences = found as f64 * math::exp((limit - gap) / off);
    let on = gap * gaps.n as f64 / silences;
    // Exactly the mean rate: the peak follows from the shares of time.
    let peak = rate * (on + off) / on;
    let source = SourceSpec::OnOff(OnOffSpec {
        peak: Rate::from_bps((peak + 0.5) as u64)?,
        packet: packet.clone(),
        on: Dur::from_ps((on + 0.5) as u64),
        off: Dur::from_ps((off + 0.5) as u64),
        distribution: PeriodDistribution::Exponential,
    });
    source.check().ok()?;
    let why = format!(
        "{:.0} % of the gaps are about {:.3} ms, {found} are silences",
        share * 100.0,
        gap / 1e9
    );
    Some((1, source, why))
}

/// How the index of dispersion of an MMPP-2 grows: `1 - (1 - exp(-x)) / x`.
fn growth(x: f64) -> f64 {
    if x < 1e-6 {
        x / 2.0
    } else {
        1.0 - (1.0 - math::exp(-x)) / x
    }
}

/// An MMPP-2 through the indices of dispersion; none if they are not above 1.
fn modulated(shape: &Shape, packet: &PacketSizeSpec) -> Option<SourceSpec> {
    let all = &shape.dispersion;
    let (shortest, longest) = (all.first()?.window, all.last()?.window);
    // Least squares of the relative error: for each speed of change the best amplitude.
    let mut best: Option<(f64, f64, f64)> = None;
    let (low, high) = (0.05 / longest, 20.0 / shortest);
    for i in 0..=400 {
        let s = low * math::pow(high / low, f64::from(i) / 400.0);
        let (mut up, mut down) = (0.0, 0.0);
        for d in all {
            let (g, w) = (
                growth(s * d.window),
                1.0 / (d.packets * d.packets).max(1e-9),
            );
            up += w * g * (d.packets - 1.0);
            down += w * g * g;
        }
        let a = up / down;
        let error = |d: &Dispersion| {
            let e = (1.0 + a * growth(s * d.window) - d.packets) / d.packets.max(1e-9);
            e * e
        };
        let sum: f64 = all.iter().map(error).sum();
        if a > 0.0 && best.is_none_or(|b| sum < b.2) {
            best = Some((s, a, sum));
        }
    }
    let (s, a, _) = best?;
    // Packets a second.
    let m = shape.packets as f64 / shape.length;
    let x = 2.0 * m / (a * s);
    let p = (x / (1.0 + x)).min(0.5);
    let apart = (a * s * m / (2.0 * p * (1.0 - p))).sqrt();
    let bits = shape.size * 8.0;
    let rate = |packets: f64| Rate::from_bps((packets * bits + 0.5) as u64);
    let source = SourceSpec::Mmpp(MmppSpec {
        high: rate(m + (1.0 - p) * apart)?,
        low: rate((m - p * apart).max(0.0)).filter(|r| r.bps() > 0),
        high_for: Dur::from_secs_f64(1.0 / ((1.0 - p) * s)),
        low_for: Dur::from_secs_f64(1.0 / (p * s)),
        packet: packet.clone(),
    });
    source.check().ok()?;
    Some(source)
}

/// Lets the sources run and measures them.
fn check(shape: &Shape, rate: f64, count: u32, source: &SourceSpec) -> FitCheck {
    let length = shape.length * (CHECKED / shape.packets as f64).min(1.0);
    let end = Time::ZERO + Dur::from_secs_f64(length);
    let mut sent: Vec<(u64, u16)> = Vec::new();
    let mut bytes = 0;
    for i in 0..count {
        let mut rng = Rng::named(1, i, "profile", "source");
        let mut one = Source::new(source, Time::ZERO);
        while let Some(e) = one.next(&mut rng).filter(|e| e.at < end) {
            sent.push((e.at.as_ps(), e.len));
            bytes += u64::from(e.len);
        }
    }
    sent.sort_unstable();
    let mut meter = Meter::new(end.as_ps(), bytes);
    sent.iter().for_each(|(at, len)| meter.packet(*at, *len));
    let got = meter.finish();
    FitCheck {
        rate: got.rate.unwrap_or(0.0) / rate,
        dispersion: got.dispersion,
        burst: got.buckets.get(1).map(|b| b.burst),
    }
}
