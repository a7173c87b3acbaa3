//! The stream socket transports, driven port by port: order, integrity, back-pressure, death, strangers.

mod encrypted;
mod harness;
mod meeting;
mod traffic;
