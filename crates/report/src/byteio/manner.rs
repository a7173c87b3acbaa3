//! How a web server sends a file, where that is not what was asked for: one text for every verb. It must never change a figure.

use wirespeed_schema::run::{Remark, Severity};

/// Fact of a transport: how what came is coded.
pub(crate) const CODING: &str = "content_coding";
/// Fact of a transport: which ranges the service knows.
pub(crate) const RANGES: &str = "ranges";
/// Its value where the whole came at once.
pub(crate) const NO_RANGES: &str = "none";

/// Severity, code, message and remedy of a remark.
pub(crate) type Told = (Severity, &'static str, String, &'static str);

/// What there is to say where the whole came at once, or coded though nobody asked for that.
pub(crate) fn told(one_stream: bool, coding: Option<&str>) -> Vec<Told> {
    let no_ranges = one_stream.then(|| {
        let message = "the server knows no ranges: the whole came at once over one connection";
        let remedy =
            "for blocks, several connections and resuming, serve it with wirespeed or a server that knows ranges";
        (Severity::Note, "no_ranges", message.to_owned(), remedy)
    });
    let coded = coding.map(|coding| {
        let message =
            format!("the server sent it coded as {coding}, though asked not to: counted and stored as sent");
        let remedy = "decode it yourself, or have the server send it as it is";
        (Severity::Warning, "content_coded", message, remedy)
    });
    no_ranges.into_iter().chain(coded).collect()
}

/// The same as remarks, for a transfer that is not measured and states no facts.
pub fn manner_remarks(one_stream: bool, coding: Option<&str>) -> Vec<Remark> {
    let told = told(one_stream, coding).into_iter();
    told.map(|(severity, code, message, remedy)| Remark::new(severity, code, message, Some(remedy)))
        .collect()
}
