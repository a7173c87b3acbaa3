//! What is wrong with a request. It must never hold the text of a remedy: that is the caller's.

/// Why a schedule or a judgement cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// A pair names a host that is not there.
    #[error("host {host} is unknown: there are {hosts} hosts")]
    UnknownHost {
        /// The number that was given.
        host: usize,
        /// How many hosts there are.
        hosts: usize,
    },
    /// A pair of a host with itself.
    #[error("host {host} is paired with itself")]
    SelfPair {
        /// The host.
        host: usize,
    },
    /// A pair is given twice.
    #[error("the pair {from} -> {to} is given twice")]
    Duplicate {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
    },
    /// Too few hosts for a storm.
    #[error("{hosts} hosts are too few for this pattern")]
    TooFew {
        /// How many there are.
        hosts: usize,
    },
    /// More streams at once than a storm may have.
    #[error("this pattern is {streams} streams at once, more than 1024")]
    Storm {
        /// How many it would be.
        streams: usize,
    },
    /// Too few matchings to connect all hosts.
    #[error("a budget of {matchings} matchings leaves hosts unconnected: at least 2 are needed")]
    Budget {
        /// The number that was given.
        matchings: usize,
    },
    /// The list of units has another length than the list of hosts.
    #[error("units are given for {given} of {hosts} hosts")]
    Units {
        /// Units given.
        given: usize,
        /// How many hosts there are.
        hosts: usize,
    },
    /// A probability or a share that is none.
    #[error("invalid {name} {value}: expected more than 0 and less than 1")]
    Share {
        /// Of which option.
        name: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// A figure that no measurement gives.
    #[error("the figure of {from} -> {to} is {value}: expected a finite number above 0")]
    Figure {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// The value that was given.
        value: f64,
    },
}
