//! Runs from elsewhere. All files of a pack must follow from its record: mindful derives them again and compares.

use std::cell::RefCell;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use mindful_analyze::{Analysis, analyze};
use mindful_core::record::run::Run;
use mindful_core::{Error, Result};
use mindful_host::ownership::make_temporary_folder;
use mindful_record::{Arrival, SUMMARY, Store, file, pack};
use mindful_report::export::packed::{Derivation, Difference};
use mindful_report::{escape, escape_json};

use crate::commands::import::files::Named;
use crate::commands::pack::{PACKED_BY, packer, version};
use crate::version;

/// Most bytes of a file of a pack.
const MOST_BYTES: u64 = 256 << 20;

/// A run that was taken in.
pub(crate) struct TakenIn {
    pub(crate) id: String,
    pub(crate) run: Run,
    /// The analysis of its record.
    pub(crate) analysis: Analysis,
    /// Where its files do not follow from its record, a line each.
    pub(crate) differences: Vec<String>,
    /// Files that could not be compared, and why; a line each.
    pub(crate) not_compared: Vec<String>,
}

/// Copies the run that `named` names into `store`, and compares its files with its record.
pub(crate) fn take_in(store: &Store, named: &Named) -> Result<TakenIn> {
    let judged = RefCell::new(None);
    let judge = |arrival: &Arrival| {
        let analysis = analyze(&arrival.run);
        let (differences, not_compared) = compare(arrival, &analysis);
        judged.replace(Some((arrival.run.clone(), analysis, differences.clone(), not_compared)));
        differences
    };
    let id = match named {
        Named::Run(path) => store.import(path, &judge)?,
        Named::Pack(path) | Named::File { path, .. } => store.import_pack(path, &judge)?,
    };
    let Some((run, analysis, differences, not_compared)) = judged.into_inner() else {
        unreachable!("a run is judged before it is stored")
    };
    Ok(TakenIn { id, run, analysis, differences, not_compared })
}

/// The differing files of `arrival`, and those that cannot be compared.
fn compare(arrival: &Arrival, analysis: &Analysis) -> (Vec<String>, Vec<String>) {
    let Arrival { run, folder, packed_as } = arrival;
    let (mut differences, mut not_compared) = (Vec::new(), Vec::new());
    if let Some(id) = packed_as.filter(|id| *id != run.head.id) {
        differences.push(format!("the pack is of run {}, its record of run {}", escape(id), escape(&run.head.id)));
    }
    let packed_by = content(&folder.join(pack::VERSION)).ok().flatten();
    let packed_by = packed_by.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix(PACKED_BY)));
    let (written_by, here) = match packed_as {
        Some(_) => (packed_by, packer()),
        None => (run.head.mindful_build.as_deref(), version::line()),
    };
    let is_ours = written_by == Some(&here);
    let derived = Derivation { run, analysis };
    let files: [(&str, &dyn Fn() -> String); 5] = [
        (SUMMARY, &|| derived.summary()),
        (pack::VERSION, &|| version(derived, packed_by.unwrap_or(&here))),
        (pack::PLAN, &|| derived.plan()),
        (pack::ENVIRONMENT, &|| derived.environment()),
        (pack::PAGE, &|| derived.page()),
    ];
    for (name, derive) in files {
        let difference = match content(&folder.join(name)) {
            Ok(None) if packed_as.is_none() => None,
            Ok(None) => Some(Difference::whole_file(name, "nothing")),
            Err(error) => Some(Difference::whole_file(name, &error.to_string())),
            Ok(Some(_)) if name == pack::PAGE && !is_ours => {
                let by = written_by.unwrap_or("unknown");
                not_compared.push(format!("{name}: mindful {} wrote it, this is {here}", escape(by)));
                None
            }
            Ok(Some(stored)) if is_ours || name == pack::PLAN || name == pack::VERSION => {
                Difference::of_text(name, &escape_json(&stored), &derive())
            }
            Ok(Some(stored)) => Difference::of_figures(name, &stored, &derive()),
        };
        differences.extend(difference.map(|difference| difference.to_string()));
    }
    (differences, not_compared)
}

/// The content of `path`; `None` if there is no such file.
fn content(path: &Path) -> std::io::Result<Option<String>> {
    let opened = match file::open_itself(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut bytes = Vec::new();
    if opened.take(MOST_BYTES + 1).read_to_end(&mut bytes)? as u64 > MOST_BYTES {
        return Err(std::io::Error::new(ErrorKind::FileTooLarge, format!("more than {MOST_BYTES} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| std::io::Error::new(ErrorKind::InvalidData, "no UTF-8 text"))
}

/// A store for the time of one command.
pub(crate) struct PassingStore {
    pub(crate) store: Store,
    root: PathBuf,
}

impl PassingStore {
    pub(crate) fn new() -> Result<Self> {
        let root = make_temporary_folder().map_err(|error| {
            Error::run(
                format!("cannot make a temporary folder: {error}"),
                "set TMPDIR to a folder of your own with space",
            )
        })?;
        Ok(Self { store: Store::open(&root), root })
    }
}

impl Drop for PassingStore {
    fn drop(&mut self) {
        // Nothing can be done about a folder that stays.
        let _ = fs::remove_dir_all(&self.root);
    }
}
