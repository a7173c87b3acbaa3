//! The written pages are true: what they show is run, what they name exists, their tables are the program's own words.

mod book;
mod commands;
mod manual;
mod names;
mod pages;
mod recordings;
mod stage;
mod tables;
