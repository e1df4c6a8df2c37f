//! HFSC as a user writes it: the keys of `tc qdisc ... hfsc` and `tc class ... hfsc`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::time::PS_PER_SEC;
use spillgate_core::{Dur, Problem, Rate, RateOrPercent, RateOrZero, Size};

use super::Hierarchy;
use super::curve::{Above, Asked, above};
use super::hfsc::{Curves, Hfsc};
use super::resolve::{ClassKeys, Parts, default_class, kin, rate_of};
use crate::recipe::At;
use crate::spec::{DisciplineSpec, MatchSpec, Scope};

/// HFSC: classes with real-time, link-sharing and upper-limit curves, as `tc qdisc add ... hfsc`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HfscSpec {
    /// The class of packets that match no class; it has no children. Required: Linux drops these
    /// packets without it.
    pub default: String,
    /// The classes, in the order in which they are tried.
    pub classes: Vec<HfscClassSpec>,
}

/// A class of HFSC, as `tc class add ... hfsc`. It has `rt`, `ls` or `sc`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HfscClassSpec {
    /// Its name, unique in the policy.
    pub name: String,
    /// The class around it. None: it is at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Which packets belong to it: the condition of a filter. That of a class with children leads
    /// to the conditions of these.
    #[serde(rename = "match", default, skip_serializing_if = "Option::is_none")]
    pub matching: Option<MatchSpec>,
    /// Real-time curve of a class without children: what it is served whatever others do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rt: Option<CurveSpec>,
    /// Link-sharing curve: its part of what its parent sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ls: Option<CurveSpec>,
    /// Both `rt` and `ls`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sc: Option<CurveSpec>,
    /// Upper limit of what it sends by link-sharing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ul: Option<CurveSpec>,
    /// The queue of a class without children: any discipline without classes. Default a FIFO of
    /// 1000 packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<DisciplineSpec>,
}

/// A service curve: the slope `m1` for the time `d`, then `m2`; or `umax` bytes within `dmax`, and
/// `rate`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CurveSpec {
    /// Slope of the first piece. Default 0 b/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m1: Option<RateOrZero>,
    /// How long the first piece lasts. Default 0 s: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub d: Option<Dur>,
    /// Slope from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m2: Option<RateOrPercent>,
    /// Bytes that are served within `dmax`: the longest packet, or a burst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub umax: Option<Size>,
    /// The time for `umax`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dmax: Option<Dur>,
    /// Slope from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateOrPercent>,
}

impl ClassKeys for HfscClassSpec {
    fn name(&self) -> &str {
        &self.name
    }

    fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    fn matching(&self) -> Option<&MatchSpec> {
        self.matching.as_ref()
    }

    fn queue(&self) -> Option<&DisciplineSpec> {
        self.queue.as_ref()
    }
}

impl CurveSpec {
    /// The slopes as numbers, of a port that sends at `line`.
    fn resolve(&self, line: Rate, at: &At<'_>) -> Result<Asked, Problem> {
        let long = self.m1.is_some() || self.d.is_some() || self.m2.is_some();
        let short = self.umax.is_some() || self.dmax.is_some() || self.rate.is_some();
        at.check(
            long != short,
            "",
            match long {
                true => "keys of both forms",
                false => "no keys",
            },
            "a curve is `m1`, `d`, `m2`, or `umax`, `dmax`, `rate`",
            "write {m2: 1 Mb/s}, {m1: 2 Mb/s, d: 10 ms, m2: 1 Mb/s} or {umax: 1500 B, dmax: 10 ms, rate: 1 Mb/s}",
        )?;
        let (key, last) = match long {
            true => ("m2", self.m2),
            false => ("rate", self.rate),
        };
        let Some(last) = last else {
            return Err(at.error(
                key,
                "nothing",
                "a curve needs its last slope",
                format!("add `{key}`"),
            ));
        };
        let m2 = rate_of(key, last, line, at)?.bps();
        if long {
            at.check(
                self.m1.is_none() || self.d.is_some_and(|d| d > Dur::ZERO),
                "d",
                self.d
                    .map_or_else(|| "nothing".to_owned(), |d| d.to_string()),
                "`m1` lasts for the time `d`",
                "add `d: 10 ms`, or leave `m1` out",
            )?;
            let m1 = self.m1.map_or(0, RateOrZero::bps);
            let d = self.d.map_or(0, Dur::as_ps);
            // Without a first piece the curve is a line.
            let m1 = if d == 0 { m2 } else { m1 };
            return Ok(Asked { m1, d, m2 });
        }
        match (self.umax, self.dmax) {
            (None, None) => Ok(Asked { m1: m2, d: 0, m2 }),
            (Some(umax), Some(dmax)) if dmax > Dur::ZERO && umax.0 > 0 => {
                Ok(within(umax.0, dmax.as_ps(), m2))
            }
            _ => Err(at.error(
                "dmax",
                self.dmax
                    .map_or_else(|| "nothing".to_owned(), |d| d.to_string()),
                "`umax` bytes are served within `dmax`: both are above 0, or both are left out",
                "write {umax: 1500 B, dmax: 10 ms, rate: 1 Mb/s}",
            )),
        }
    }
}

/// The curve that serves so many bytes in so many picoseconds, and then the slope, as `tc` has it.
fn within(umax: u64, dmax: u64, m2: u64) -> Asked {
    let bits = u128::from(umax) * 8 * u128::from(PS_PER_SEC);
    let m1 = u64::try_from(bits.div_ceil(u128::from(dmax))).unwrap_or(u64::MAX);
    if m1 > m2 {
        return Asked { m1, d: dmax, m2 };
    }
    // Nothing, and then early enough for `umax` by `dmax`.
    let takes = u64::try_from(bits.div_ceil(u128::from(m2))).unwrap_or(u64::MAX);
    Asked {
        m1: 0,
        d: dmax.saturating_sub(takes),
        m2,
    }
}

impl HfscSpec {
    pub(crate) fn engine(
        &self,
        at: &mut At<'_>,
        scope: &Scope<'_>,
    ) -> Result<Hierarchy<Hfsc>, Problem> {
        let line = scope.line.rate;
        let kin = kin(&self.classes, at)?;
        at.check(
            !self.default.is_empty() && !self.classes.is_empty(),
            "default",
            &self.default,
            "packets that match no class need one: Linux would drop them all",
            "name a class without children",
        )?;
        let default = Some(default_class(&self.default, &self.classes, &kin, at)?);
        let mut curves = Vec::new();
        for (i, (class, kin)) in self.classes.iter().zip(&kin).enumerate() {
            curves.push(at.index("classes", i, |at| {
                class.curves(kin.leaf.is_some(), line, at)
            })?);
        }
        check_sum(&curves, line, at);
        let order = Hfsc::new(&kin, &curves);
        let slope = |c: &Curves| c.rt.or(c.ls).and_then(|a| Rate::from_bps(a.m2));
        let rates = curves.iter().map(|c| slope(c).unwrap_or(line)).collect();
        let parts = Parts {
            classes: &self.classes,
            kin,
            default,
            direct: None,
            rates,
        };
        parts.build(order, at, scope)
    }
}

impl HfscClassSpec {
    fn curves(&self, leaf: bool, line: Rate, at: &mut At<'_>) -> Result<Curves, Problem> {
        let mut of = |key: &str, curve: &Option<CurveSpec>| match curve {
            Some(c) => at.key(key, |at| c.resolve(line, at)).map(Some),
            None => Ok(None),
        };
        let (rt, ls, sc) = (
            of("rt", &self.rt)?,
            of("ls", &self.ls)?,
            of("sc", &self.sc)?,
        );
        let ul = of("ul", &self.ul)?;
        for (key, own) in [("rt", rt), ("ls", ls)] {
            at.check(
                sc.is_none() || own.is_none(),
                key,
                &self.name,
                "`sc` is both `rt` and `ls`",
                "leave one of them out",
            )?;
        }
        at.check(
            rt.or(ls).or(sc).is_some(),
            "",
            &self.name,
            "a class needs a curve: `rt`, `ls` or `sc`",
            "add `ls: {m2: 1 Mb/s}`",
        )?;
        let (rt, mut ls) = (rt.or(sc), ls.or(sc));
        if !leaf && ls.is_none() {
            at.warn(format!(
                "class {} has children and only `rt`, which they cannot share: it is taken as `sc`, as Linux takes it",
                self.name
            ));
            ls = rt;
        }
        if ul.is_some() && ls.is_none() {
            at.warn(format!(
                "`ul` of class {} has no effect: it limits link-sharing, and the class has no `ls`",
                self.name
            ));
        }
        Ok(Curves { rt, ls, ul })
    }
}

/// Warns where the real-time curves promise more than the line sends.
fn check_sum(curves: &[Curves], line: Rate, at: &mut At<'_>) {
    let all: Vec<Asked> = curves.iter().filter_map(|c| c.rt).collect();
    match above(&all, line.bps()) {
        None => {}
        Some(Above::Always(sum)) => at.warn(format!(
            "the real-time curves come to {sum} b/s in the long run, more than the line's {line}: deadlines are missed without bound (Stoica, Zhang, Ng 1997, theorem 1)"
        )),
        Some(Above::At(t, excess)) => {
            let bytes = excess / (8 * u128::from(PS_PER_SEC));
            let late = Dur::from_ps((excess / u128::from(line.bps())) as u64);
            at.warn(format!(
                "the real-time curves come to {bytes} B more than the line sends in the first {}: deadlines may be missed by {late} (Stoica, Zhang, Ng 1997, theorem 1)",
                Dur::from_ps(t)
            ));
        }
    }
}
