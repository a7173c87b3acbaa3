//! Feeds libFuzzer's bytes to [`wirespeed_fuzz::session`].
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| wirespeed_fuzz::session(data));

/// Without the fuzzer: one input from stdin, to look at a finding by hand.
#[cfg(not(fuzzing))]
fn main() -> std::io::Result<()> {
    let mut data = Vec::new();
    std::io::Read::read_to_end(&mut std::io::stdin(), &mut data)?;
    wirespeed_fuzz::session(&data);
    Ok(())
}
