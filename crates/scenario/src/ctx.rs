//! State that all stages of loading share: texts, files, and diagnostics.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spillgate_capture::{Opener, Survey};
use spillgate_core::Digest;
use spillgate_core::rng::hash_bytes;

use crate::beside::{Expected, Hidden};
use crate::codes;
use crate::de::MAX_ERRORS;
use crate::error::{Diagnostic, Diagnostics};
use crate::import::{Files, Imported, Importer, Platform};
use crate::load::Options;
use crate::node::{Node, Step, Value};
use crate::offered::Offered;
use crate::own::{self, Own};
use crate::plan::{Unmodelled, Written};
use crate::schema::{ConfigSpec, Language};
use crate::text::Texts;

/// An output of a router.
const SHOWN: Expected = Expected::table(
    "save what `show policy-map interface` prints, from the interface's name on",
    |text| {
        let heads = ["Service-policy", " input: ", " output: "];
        text.lines().any(|l| heads.iter().any(|h| l.contains(h)))
    },
);

/// A file that was read.
#[derive(Clone)]
pub(crate) struct File {
    /// Its number among the texts.
    pub(crate) text: u32,
    /// Its name for diagnostics.
    pub(crate) name: String,
    /// Its content.
    pub(crate) bytes: Arc<[u8]>,
}

/// A configuration by its path as written, how it is read, and the prefix of policy names.
type ImportKey = (String, (Language, Platform), String);

/// The state of one call of [`crate::load()`].
pub(crate) struct Ctx<'a> {
    pub(crate) texts: Texts,
    files: &'a dyn Files,
    importer: &'a dyn Importer,
    opts: &'a Options,
    dir: PathBuf,
    errors: Vec<Diagnostic>,
    /// Warnings with the points that they concern; no points if a warning concerns the whole
    /// scenario.
    warnings: Vec<(Diagnostic, Vec<usize>)>,
    /// The point that is being read.
    point: Option<usize>,
    unmodelled: Vec<Unmodelled>,
    /// Files by path as written; none if the file could not be read, which was reported.
    read: BTreeMap<String, Option<File>>,
    imported: BTreeMap<ImportKey, Option<Arc<Imported>>>,
    /// Captures by path as written.
    captures: BTreeMap<String, Option<Capture>>,
    /// Surveys of captures by path and question; none after an error.
    surveys: BTreeMap<(String, String), Option<Arc<Survey>>>,
    /// Files outside the scenario's folder, by path as written.
    outside: BTreeSet<String>,
    /// Files whose lines are not shown, by their names for diagnostics.
    hidden: BTreeMap<String, Hidden>,
    /// The parts of one's own that some point names.
    named: BTreeSet<(own::Family, String)>,
}

/// A capture that can be opened.
#[derive(Clone)]
pub(crate) struct Capture {
    /// Its name for diagnostics.
    pub(crate) name: String,
    pub(crate) opener: Arc<dyn Opener>,
    /// Fingerprint of its content, once it was read.
    fingerprint: String,
}

impl<'a> Ctx<'a> {
    pub(crate) fn new(
        path: &Path,
        files: &'a dyn Files,
        importer: &'a dyn Importer,
        opts: &'a Options,
    ) -> Self {
        Self {
            texts: Texts::default(),
            files,
            importer,
            opts,
            dir: path.parent().map(Path::to_path_buf).unwrap_or_default(),
            errors: Vec::new(),
            warnings: Vec::new(),
            point: None,
            unmodelled: Vec::new(),
            read: BTreeMap::new(),
            imported: BTreeMap::new(),
            captures: BTreeMap::new(),
            surveys: BTreeMap::new(),
            outside: BTreeSet::new(),
            hidden: BTreeMap::new(),
            named: BTreeSet::new(),
        }
    }

    /// Parts of one's own.
    pub(crate) fn own(&self) -> &'a Own {
        &self.opts.own
    }

    /// Writes those that a tree names as what they are.
    pub(crate) fn name_own(&mut self, root: &mut Node) {
        self.named.extend(self.own().name(root));
    }

    /// Warns of those that no point names.
    pub(crate) fn check_own(&mut self) {
        for (family, name) in self.own().names() {
            if !self.named.contains(&(family, name.to_owned())) {
                self.note(family.unused(name));
            }
        }
    }

    /// Notes an error at a path below `root`.
    pub(crate) fn error(&mut self, d: Diagnostic, root: &Node, path: &[Step]) {
        let d = self.placed(d, root, path);
        self.report(d);
    }

    /// Notes an error at a path below `node`; `name` is what the user calls the place.
    pub(crate) fn error_below(&mut self, d: Diagnostic, node: &Node, path: &[Step], name: &str) {
        let mut d = self.placed(d, node, path);
        name.clone_into(&mut d.path);
        self.report(d);
    }

    /// Notes a warning at a path below `root`.
    pub(crate) fn warn(&mut self, d: Diagnostic, root: &Node, path: &[Step]) {
        let d = self.placed(d, root, path);
        self.note(d);
    }

    /// Notes a warning that has its place. Variants of a scenario repeat most of their warnings, so
    /// each is kept once.
    pub(crate) fn note(&mut self, d: Diagnostic) {
        let (point, room) = (self.point, self.warnings.len() < 10 * MAX_ERRORS);
        match self.warnings.iter_mut().find(|(known, _)| *known == d) {
            Some((_, points)) => {
                // Points are read in order, by some callers twice.
                let last = points.last().copied();
                points.extend(point.filter(|p| Some(*p) > last));
            }
            None if room => self.warnings.push((d, point.into_iter().collect())),
            None => {}
        }
    }

    /// From here on warnings concern this point of the scenario, or no particular one.
    pub(crate) fn at_point(&mut self, point: Option<usize>) {
        self.point = point;
    }

    fn placed(&self, mut d: Diagnostic, root: &Node, path: &[Step]) -> Diagnostic {
        let node = path.iter().try_fold(root, |n, s| n.step(s));
        if let (None, Some(node)) = (&d.found, node) {
            // A list or mapping does not fit one line, unless it is empty.
            let large = match &node.value {
                Value::Seq(items) => !items.is_empty(),
                Value::Map(entries) => !entries.is_empty(),
                _ => false,
            };
            d.found = (!large).then(|| node.describe());
        }
        self.texts.place(d, root.nearest(path), path)
    }

    /// The place of a path below `root`.
    pub(crate) fn written(&self, root: &Node, path: &[Step]) -> Written {
        let d = self.placed(Diagnostic::warning("", ""), root, path);
        Written {
            file: d.file,
            line: d.line,
            column: d.column,
            width: d.width,
            path: d.path,
        }
    }

    /// Notes an error that has its place. Variants of a scenario repeat most of their errors, so
    /// each is kept once.
    pub(crate) fn report(&mut self, d: Diagnostic) {
        // One more than is shown tells that there are more.
        if self.errors.len() <= 10 * MAX_ERRORS && !self.errors.contains(&d) {
            self.errors.push(d);
        }
    }

    pub(crate) fn report_all(&mut self, ds: impl IntoIterator<Item = Diagnostic>) {
        ds.into_iter().for_each(|d| self.report(d));
    }

    /// How many errors were noted so far.
    pub(crate) fn error_count(&self) -> usize {
        self.errors.len()
    }

    /// Whether there is no error so far.
    pub(crate) fn is_fine(&self) -> bool {
        self.errors.is_empty()
    }

    /// The error for a file that may not be read, if it may not.
    pub(crate) fn refused(&self, full: &Path) -> Option<Diagnostic> {
        if !self.opts.confine || self.files.lies_in(full, &self.dir) {
            return None;
        }
        let message = format!("`{}` lies outside the scenario's folder", full.display());
        let hint = "put it there, itself and not a link to it, or read it without `--confine`";
        Some(Diagnostic::error(codes::OUTSIDE, message).hint(hint))
    }

    /// Whether the command line names a file, so that it is not the scenario's choice.
    fn is_given(&self, file: &str) -> bool {
        self.opts.sla.iter().any(|f| f == file)
    }

    /// Applies `read` to a file that the scenario refers to at `path` below `root`, if it may be
    /// read; none after an error.
    fn beside<T>(
        &mut self,
        file: &str,
        (root, path): (&Node, &[Step]),
        read: impl FnOnce(&dyn Files, &Path) -> std::io::Result<T>,
    ) -> Option<T> {
        let (files, full) = (self.files, self.dir.join(file));
        if !files.lies_in(&full, &self.dir) {
            self.outside.insert(file.to_owned());
        }
        if let Some(d) = self.refused(&full).filter(|_| !self.is_given(file)) {
            self.error(d, root, path);
            return None;
        }
        let unreadable = |e| {
            let message = format!("cannot read `{}`: {}", full.display(), reason(&e));
            let d = Diagnostic::error(codes::UNREADABLE, message)
                .hint("paths are relative to the scenario file");
            self.error(d, root, path);
        };
        read(files, &full).map_err(unreadable).ok()
    }

    /// Reads a file that the scenario refers to at `path` below `root`, once.
    pub(crate) fn open(
        &mut self,
        file: &str,
        expected: Expected,
        root: &Node,
        path: &[Step],
    ) -> Option<File> {
        if let Some(known) = self.read.get(file) {
            return known.clone();
        }
        let name = self.file_name(file);
        let bytes = self.beside(file, (root, path), |files, full| files.read(full));
        let opened = bytes.map(|bytes| File {
            text: self.texts.file(&name, &bytes),
            name: name.clone(),
            bytes: bytes.into(),
        });
        if let Some(found) = &opened {
            let own = !self.outside.contains(file) || self.is_given(file);
            let hidden = expected.hidden(&String::from_utf8_lossy(&found.bytes), own);
            // The scenario file itself is never hidden.
            let hidden = hidden.filter(|_| name != self.texts.name(0));
            self.hidden.extend(hidden.map(|h| (name, h)));
        }
        self.read.insert(file.to_owned(), opened.clone());
        opened
    }

    /// Reads and imports a router configuration, once.
    pub(crate) fn import(
        &mut self,
        config: &ConfigSpec,
        root: &Node,
        path: &[Step],
    ) -> Option<Arc<Imported>> {
        let (language, file) = config.source()?;
        let (file, platform) = (file.to_owned(), config.platform);
        let key = (file.clone(), (language, platform), config.prefix.clone());
        if let Some(known) = self.imported.get(&key) {
            return known.clone();
        }
        // The diagnostics of a file are the same under every prefix.
        let again = |k: &ImportKey| (&k.0, k.1) == (&file, (language, platform));
        let said = self.imported.keys().any(again);
        let opened = self.open(&file, Expected::Configuration, root, path);
        let result = opened.and_then(|opened| {
            let (name, bytes) = (&opened.name, &opened.bytes);
            let read = match language {
                Language::Ios => self.importer.ios(name, bytes, platform),
                Language::Tc => self.importer.tc(name, bytes),
            };
            match read {
                Ok(mut imported) => {
                    if !said {
                        let warnings = imported.warnings.drain(..);
                        self.warnings.extend(warnings.map(|d| (d, Vec::new())));
                        self.unmodelled.append(&mut imported.unmodelled);
                    }
                    Some(Arc::new(imported.prefixed(&config.prefix)))
                }
                Err(Diagnostics(ds)) => {
                    self.report_all(ds);
                    None
                }
            }
        });
        self.imported.insert(key, result.clone());
        result
    }

    /// The number of the text of a file that was read.
    pub(crate) fn text_of(&self, file: &str) -> Option<u32> {
        self.read.get(file)?.as_ref().map(|f| f.text)
    }

    /// Finds a capture that the scenario refers to at `path` below `root`, once.
    pub(crate) fn capture(&mut self, file: &str, root: &Node, path: &[Step]) -> Option<Capture> {
        if let Some(known) = self.captures.get(file) {
            return known.clone();
        }
        let opener = self.beside(file, (root, path), |files, full| files.opener(full));
        let found = opener.map(|opener| Capture {
            name: self.file_name(file),
            opener,
            fingerprint: String::new(),
        });
        self.captures.insert(file.to_owned(), found.clone());
        found
    }

    /// The survey of a capture for the question `asked`; `look` makes it, once.
    pub(crate) fn survey(
        &mut self,
        file: &str,
        asked: &str,
        look: impl FnOnce(&mut Self) -> Option<Survey>,
    ) -> Option<Arc<Survey>> {
        let key = (file.to_owned(), asked.to_owned());
        if let Some(known) = self.surveys.get(&key) {
            return known.clone();
        }
        let found = look(self).map(Arc::new);
        if let (Some(s), Some(Some(c))) = (&found, self.captures.get_mut(file)) {
            c.fingerprint.clone_from(&s.fingerprint);
        }
        self.surveys.insert(key, found.clone());
        found
    }

    /// Reads an output of `show policy-map interface`; beside it the number of its text.
    pub(crate) fn offered(
        &mut self,
        file: &str,
        root: &Node,
        path: &[Step],
    ) -> Option<(Offered, u32)> {
        let opened = self.open(file, SHOWN, root, path)?;
        match self.importer.offered(&opened.name, &opened.bytes) {
            Ok(mut offered) => {
                for d in offered.warnings.drain(..) {
                    self.note(d);
                }
                Some((offered, opened.text))
            }
            Err(Diagnostics(ds)) => {
                self.report_all(ds);
                None
            }
        }
    }

    /// The files that were opened, as the scenario writes them.
    pub(crate) fn opened(&self) -> Vec<String> {
        self.read
            .keys()
            .chain(self.captures.keys())
            .cloned()
            .collect()
    }

    /// Those of them that lie outside the scenario's folder.
    pub(crate) fn outside(&self) -> Vec<String> {
        self.outside.iter().cloned().collect()
    }

    /// The name of a file that was opened, for diagnostics.
    pub(crate) fn file_name(&self, file: &str) -> String {
        self.dir.join(file).display().to_string()
    }

    /// Adds every file that was read to a fingerprint, but for those `beside` the scenario.
    pub(crate) fn digest_files(&self, digest: &mut Digest, beside: &[String]) {
        for (path, file) in &self.read {
            if beside.contains(path) {
                continue;
            }
            if let Some(file) = file {
                digest.word(hash_bytes(path.as_bytes()));
                digest_bytes(digest, &file.bytes);
            }
        }
        for (path, capture) in &self.captures {
            if let Some(capture) = capture {
                digest.word(hash_bytes(path.as_bytes()));
                digest_bytes(digest, capture.fingerprint.as_bytes());
            }
        }
    }

    /// The warnings of a valid scenario, with places and points, and the texts.
    pub(crate) fn into_warnings(self) -> (Vec<(Diagnostic, Vec<usize>)>, Texts) {
        let (mut warnings, points): (Vec<_>, Vec<_>) = self.warnings.into_iter().unzip();
        self.texts.quote(&mut warnings);
        (warnings.into_iter().zip(points).collect(), self.texts)
    }

    /// The warnings of a valid scenario, and the configuration lines without effect.
    pub(crate) fn finish(self) -> (Vec<String>, Vec<Unmodelled>) {
        let warnings = self.warnings.iter();
        let warnings = warnings.map(|(d, _)| d.in_one_line()).collect();
        (warnings, self.unmodelled)
    }

    /// All errors in the order of the texts.
    pub(crate) fn into_errors(self) -> Diagnostics {
        let mut errors = self.errors;
        let rank = |d: &Diagnostic| (self.texts.rank(&d.file), d.line, d.column);
        errors.sort_by_key(rank);
        for d in &mut errors {
            if let Some(hidden) = self.hidden.get(&d.file) {
                hidden.take_out(d);
            }
        }
        errors.dedup();
        if errors.len() > MAX_ERRORS {
            errors.truncate(MAX_ERRORS);
            let file = errors[0].file.clone();
            errors.push(
                Diagnostic::error(codes::TOO_MANY, "there are more errors")
                    .in_file(file)
                    .hint("mend these first"),
            );
        }
        self.texts.quote(&mut errors);
        Diagnostics(errors)
    }
}

/// Bytes as words, with their number.
pub(crate) fn digest_bytes(digest: &mut Digest, bytes: &[u8]) {
    digest.word(bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        digest.word(u64::from_le_bytes(word));
    }
}

/// The usual errors in the same words on every platform.
pub(crate) fn reason(e: &std::io::Error) -> String {
    match e.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => e.to_string(),
    }
}
