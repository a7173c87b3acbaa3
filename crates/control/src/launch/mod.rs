//! How ranks are started on this machine: as threads of this process, or as processes of their own.

pub mod local;
pub mod seam;
pub mod threads;
pub mod together;
