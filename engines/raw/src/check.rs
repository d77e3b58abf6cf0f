//! Refusals before anything is opened for work.

use mindful_core::dataset::{Dataset, DatasetPlan};
use mindful_core::workload::{Commit, LoopSite, Workload};
use mindful_core::{Error, Result};

use crate::file_header::FileHeader;
use crate::guard::Source;
use crate::options::Options;

/// Refuses a file that does not belong with the others, was cut short, or is empty.
pub(crate) fn part(source: &Source, number: usize, all: &[Source]) -> Result<()> {
    let path = source.path.display();
    let first = all[0].mark;
    let Some(mark) = source.mark else {
        if source.data.bytes == 0 {
            let next = match source.device {
                Some(_) => "the device has no medium, or is gone",
                None => "remove it and let mindful make it, or name another",
            };
            return Err(Error::target(format!("{path} is empty"), next));
        }
        return match first {
            None => Ok(()),
            Some(_) => Err(Error::target(
                format!("{path} was not made by mindful, {} was", all[0].path.display()),
                "name only files made together, or only others",
            )),
        };
    };
    let belongs = first.is_some_and(|f| f.set == mark.set && f.parts == mark.parts);
    if !belongs || mark.part != number as u64 || mark.parts != all.len() as u64 {
        return Err(Error::target(
            format!("{path} is file {} of {} made together", mark.part + 1, mark.parts),
            "name all files in the order they were made in",
        ));
    }
    if mark.complete() && source.data.bytes < mark.data_bytes {
        return Err(Error::target(format!("{path} is shorter than it was made"), "`mindful cleanup` and load again"));
    }
    Ok(())
}

/// Refuses a workload that this engine, these options or the dataset do not support.
pub(crate) fn workload(workload: &Workload, options: &Options, dataset: &Dataset) -> Result<()> {
    if !workload.scan_pct.is_none() {
        return Err(Error::plan("raw has no scan tables", "omit --scan-pct; --large-iodepth adds large reads"));
    }
    if workload.loop_site == LoopSite::Server {
        return Err(Error::plan("raw has no server to run the loop in", "pass --loop client"));
    }
    if !workload.update_pct.is_none() && (workload.commit != Commit::Each || !workload.commit_wait) {
        return Err(Error::plan(
            "raw writes have no transactions to commit",
            "omit --commit and --commit-wait; --fsync N or --sync on makes writes durable",
        ));
    }
    if (options.fsync > 0 || options.append) && workload.update_pct.is_none() {
        let what = "--fsync and --append are of writes, and this run only reads";
        return Err(Error::plan(what, "pass --update-pct, such as 100"));
    }
    if options.verify && !options.direct && !workload.update_pct.is_none() {
        return Err(Error::plan(
            "through the page cache a block may be read half written, which verify would report",
            "pass --direct on, or --update-pct 0",
        ));
    }
    workload.refuse_more_than_loaded(Some(dataset))
}

/// The mark of the first file; refuses to load where the files hold something else than `plan`.
pub(crate) fn same_dataset(plan: &DatasetPlan, sources: &[Source]) -> Result<FileHeader> {
    let path = sources[0].path.display();
    let Some(mark) = sources[0].mark else {
        return Err(Error::target(
            format!("{path} was not made by mindful and is never written"),
            "name a file that does not exist yet and mindful makes it, or a device and --destroy-data with its name",
        ));
    };
    if (mark.blocks_per_schema, mark.seed) == (plan.blocks_per_schema, plan.seed) {
        return Ok(mark);
    }
    Err(Error::target(
        format!(
            "{path} was made for schemas of {} blocks with seed {}, not of {} with seed {}",
            mark.blocks_per_schema, mark.seed, plan.blocks_per_schema, plan.seed
        ),
        "`mindful cleanup` first, or name another path",
    ))
}
