//! Statistics: quantiles with intervals, summaries over runs, moments of histograms.
