//! Which program the tests start. It must never be anything but one that was built from this source.

use std::sync::OnceLock;

/// Names a program to start in place of the one that cargo built with the tests: the optimised one, which needs a third of
/// the time of every CPU.
const VARIABLE: &str = "WIRESPEED_UNDER_TEST";

/// The program under test: the one that the environment names, or `built`.
///
/// # Panics
/// Where the one that is named is not there.
pub fn program(built: &'static str) -> &'static str {
    static NAMED: OnceLock<Option<String>> = OnceLock::new();
    let named = NAMED.get_or_init(|| {
        let named = std::env::var(VARIABLE).ok()?;
        assert!(
            std::path::Path::new(&named).is_file(),
            "{VARIABLE} names {named}, which is not there"
        );
        Some(named)
    });
    named.as_deref().unwrap_or(built)
}
