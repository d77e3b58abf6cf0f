//! Checks of memory.

use mindful_core::plan::units;
use mindful_core::plan::units::format_rounded;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_host::control_group::Limits;

use super::activity::Activity;
use super::processor::without_limit;
use crate::environment::memory::Memory;

pub(super) fn thp(memory: &Memory) -> Option<Finding> {
    let always = memory.thp.as_deref().filter(|thp| *thp == "always")?;
    Some(codes::HOST_SETTING.finding(
        "The kernel compacts memory into huge pages while sessions work, which stalls \
                                      single operations and takes CPU. Turn it off: echo madvise > \
                                      /sys/kernel/mm/transparent_hugepage/enabled",
        format!("transparent huge pages: {always}"),
    ))
}

pub(super) fn swap(memory: &Memory, activity: &Activity) -> Option<Finding> {
    let used = memory.meminfo.swap_used_bytes.filter(|used| *used > 0)?;
    let now = activity
        .swapped_per_s
        .map_or_else(String::new, |pages| format!(", {} pages/s right now", format_rounded(pages)));
    Some(codes::HOST_SETTING.finding(
        "Memory is swapped out. If pages of the database's cache are swapped out, a cached read waits for storage. \
         Free memory, then: swapoff -a && swapon -a",
        format!("{} in swap{now}", units::format_bytes(used)),
    ))
}

pub(super) fn limit(limits: &Limits) -> Option<Finding> {
    let (bytes, file) = (limits.memory_bytes?, limits.memory_file.as_ref()?);
    Some(codes::HOST_SETTING.finding(
        format!(
            "A control group limits the server's memory, including the page cache. Compare the dataset with this \
             limit, not with the host's memory. To remove it, on the host: {}, or for a container: docker update \
             --memory SIZE",
            without_limit(file)
        ),
        format!("{} by {}", units::format_bytes(bytes), file.display()),
    ))
}
