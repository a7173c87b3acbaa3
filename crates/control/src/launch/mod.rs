//! How ranks are started: as threads of this process, as processes of their own, or by a launcher on another host.
//!
//! [`seam`] is how a group gets a rank that somebody else started. [`child`] is a launcher as a process of ours, with
//! [`slurm`] and [`ssh`] as the two that carry a program's standard input and output; [`mux`] makes sockets of those.

pub mod child;
pub mod local;
pub mod mux;
pub mod program;
pub mod seam;
pub mod slurm;
pub mod ssh;
pub mod threads;
pub mod together;
