//! Tests of the crate through its public interface, in one binary so that the fixtures are built once.

mod assemble;
mod audit;
mod charts;
mod checks;
mod compare;
mod explain;
mod fixture;
mod golden;
mod html;
mod imports;
mod interference;
mod matching;
mod mesh;
mod posted;
mod quick;
mod random;
mod read;
mod remarks;
mod render;
mod resampled;
mod svg;
mod thresholds;
mod views;
mod workers;
