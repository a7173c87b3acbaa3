//! What is typed and what is answered, word by word: help texts, wrong options, dry runs. The transcripts lie in
//! `tests/cmd`; `TRYCMD=overwrite` writes them anew.

#[test]
fn transcripts() {
    trycmd::TestCases::new()
        .env("COLUMNS", "110")
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C.UTF-8")
        .case("tests/cmd/*.trycmd");
}
