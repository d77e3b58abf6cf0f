//! Kinds of findings that this engine alone raises; docs/findings.md tells of each.

mindful_core::finding_codes! {
    BUFFERS_NOT_REGISTERED = "buffers-not-registered", Info;
    NO_IO_URING = "no-io-uring", Warning;
}
