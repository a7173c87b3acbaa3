//! Tests of the crate through its public interface, in one binary so that the fixtures are built once.

mod assemble;
mod checks;
mod fixture;
mod golden;
mod random;
mod read;
mod render;
