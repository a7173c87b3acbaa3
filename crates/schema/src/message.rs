//! Control messages between a coordinator and the ranks.
