//! How ranks are started: as threads of this process, as processes of their own, or by a launcher on another host.
//!
//! [`seam`] is how a group gets a rank that somebody else started. [`child`] is a launcher as a process of ours, with
//! [`slurm`] and [`ssh`] as the two that carry a program's standard input and output; [`mux`] makes sockets of those.
//!
//! [`hosts`] are many of those, each with a [`starter`] of ranks; [`all_hosts`] starts and ends them side by side.
//! [`stdio`] and [`greeted`] are the two ends of what a launcher carries, [`talk`] is what is said there.

pub mod all_hosts;
pub mod child;
pub mod files;
pub mod greeted;
pub mod guard;
pub mod hosts;
pub mod local;
pub mod mux;
mod post;
pub mod program;
pub mod seam;
pub mod slurm;
pub mod ssh;
pub mod starter;
pub mod stdio;
pub mod talk;
pub mod threads;
pub mod together;
