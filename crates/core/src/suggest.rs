//! "Did you mean": the nearest of the names that would be valid.

/// The candidate nearest to `name` in edits (Damerau-Levenshtein, letters' case
/// ignored), if it is near enough to be a slip: at most a third of the letters.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance takes time quadratic in the length, so long names are skipped.
    if name.len() > 200 {
        return None;
    }
    let lower = name.to_lowercase();
    let length = name.chars().count();
    let allowed = (length / 3).max(1);
    candidates
        .into_iter()
        .filter(|c| c.len().abs_diff(name.len()) <= allowed * 4)
        .map(|c| (strsim::damerau_levenshtein(&lower, &c.to_lowercase()), c))
        // A name of one letter is like every other.
        .filter(|(d, _)| *d <= allowed && *d < length)
        // The first of several: the order is the caller's.
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// `; did you mean `x`?`, or nothing.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or_else(String::new, |c| format!("; did you mean `{c}`?"))
}

/// Names for a hint, cut after two dozen.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 24;
    let names: Vec<_> = names.into_iter().collect();
    match names.len() {
        0 => "none".to_owned(),
        n if n > SHOWN => format!("{} and {} more", names[..SHOWN].join(", "), n - SHOWN),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognized_and_strangers_are_not() {
        let known = ["rate", "delay", "policy", "overhead"];
        assert_eq!(nearest("rat", known), Some("rate"));
        assert_eq!(nearest("dleay", known), Some("delay"));
        assert_eq!(nearest("Policy", known), Some("policy"));
        assert_eq!(nearest("bandwidth", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest("R", ["Q"]), None);
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..30).map(|i| i.to_string()).collect();
        assert!(list(names.iter().map(String::as_str)).ends_with("23 and 6 more"));
    }
}
