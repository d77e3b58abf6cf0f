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

#[cfg(test)]
mod tests {
    use mindful_host::memory::Meminfo;

    use super::*;

    #[test]
    fn only_always_is_reported_huge_pages() {
        let memory = |thp: &str| Memory { thp: Some(thp.to_owned()), ..Memory::default() };
        assert_eq!(thp(&memory("always")).unwrap().code, "host-setting");
        assert_eq!((thp(&memory("madvise")), thp(&Memory::default())), (None, None));
    }

    #[test]
    fn swap_that_is_empty_or_unknown_is_no_finding() {
        let memory = |used| {
            let meminfo = Meminfo { swap_used_bytes: used, ..Meminfo::default() };
            Memory { meminfo, ..Memory::default() }
        };
        let activity = Activity { swapped_per_s: Some(12.0), ..Activity::default() };
        assert!(swap(&memory(Some(1 << 20)), &activity).unwrap().evidence.contains("12 pages/s"));
        assert_eq!((swap(&memory(Some(0)), &activity), swap(&memory(None), &activity)), (None, None));
    }
}
