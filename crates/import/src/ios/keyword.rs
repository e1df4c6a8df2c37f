//! Keywords as the command line takes them: in any case, and abbreviated as
//! long as only one keyword of the mode begins so.

use std::sync::LazyLock;

/// What a word is in a table of keywords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found<T> {
    /// The keyword in full.
    Exact(T),
    /// The beginning of exactly one keyword (or of several with one meaning).
    Prefix(T),
    /// The beginning of several.
    Ambiguous(Vec<&'static str>),
    /// None of them.
    None,
}

/// A table of keywords: their full spelling and what they mean.
pub(crate) type Table<T> = [(&'static str, T)];

/// A table that is made when it is first used.
pub(crate) type Keywords<T> = LazyLock<Vec<(&'static str, T)>>;

/// The table in which each meaning has these keywords, sorted.
pub(crate) fn table<T: Copy>(meanings: &[(T, &'static str)]) -> Vec<(&'static str, T)> {
    let words = |(meaning, words): &(T, &'static str)| {
        let meaning = *meaning;
        words.split_ascii_whitespace().map(move |w| (w, meaning))
    };
    let mut all: Vec<_> = meanings.iter().flat_map(words).collect();
    all.sort_by_key(|(word, _)| *word);
    all
}

/// Looks `word` up in `table`.
pub(crate) fn find<T: Copy + PartialEq>(table: &Table<T>, word: &str) -> Found<T> {
    let mut prefix: Option<T> = None;
    let mut ambiguous = false;
    for (name, meaning) in table {
        if !starts_with(name, word) {
            continue;
        }
        if name.len() == word.len() {
            return Found::Exact(*meaning);
        }
        match prefix {
            Some(first) if first != *meaning => ambiguous = true,
            _ => prefix = Some(*meaning),
        }
    }
    match prefix {
        _ if ambiguous => Found::Ambiguous(
            table
                .iter()
                .map(|(name, _)| *name)
                .filter(|name| starts_with(name, word))
                .collect(),
        ),
        Some(meaning) => Found::Prefix(meaning),
        None => Found::None,
    }
}

/// Whether the keyword `name` begins with `word`, whatever the case.
pub(crate) fn starts_with(name: &str, word: &str) -> bool {
    !word.is_empty()
        && word.len() <= name.len()
        && name.as_bytes()[..word.len()].eq_ignore_ascii_case(word.as_bytes())
}

/// Whether `word` abbreviates `name` with at least `least` letters.
pub(crate) fn abbreviates(word: &str, name: &str, least: usize) -> bool {
    word.len() >= least && starts_with(name, word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unique_prefixes_resolve() {
        let table = [
            ("police", 1),
            ("policy-map", 2),
            ("prec-based", 3),
            ("precedence-based", 3),
        ];
        assert_eq!(find(&table, "POLICE"), Found::Exact(1));
        assert_eq!(find(&table, "policy"), Found::Prefix(2));
        assert_eq!(find(&table, "prec"), Found::Prefix(3));
        assert_eq!(
            find(&table, "pol"),
            Found::Ambiguous(vec!["police", "policy-map"])
        );
        assert_eq!(find(&table, "x"), Found::None);
        assert_eq!(find(&table, ""), Found::None);
        assert_eq!(find(&table, "policé"), Found::None);
    }
}
