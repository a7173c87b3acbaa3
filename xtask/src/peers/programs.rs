//! Other people's programs: their command lines, and the figures that they print.

use super::launch::{Context, alone, pair};
use super::mpi::{Figure, Mpi};
use super::report::Report;
use super::table::Ucx;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// ucx_perftest over one of its transports.
pub fn ucx_road(
    context: &Context,
    report: &mut Report,
    arguments: &str,
    is_loopback: bool,
) -> Result<String> {
    let words: Vec<&str> = arguments.split(' ').collect();
    if is_loopback {
        let words = [&["-l", "-v", "-f"], &words[..]].concat();
        return alone(context, report, "ucx_perftest", &words);
    }
    let server = [&words[..], &["-p", "13399"]].concat();
    let client = [&["127.0.0.1", "-v", "-f"], &server[..]].concat();
    pair(context, report, "ucx_perftest", &server, &client).map(|(output, _)| output)
}

/// ucx_perftest over posix shared memory.
pub fn ucx(
    context: &Context,
    report: &mut Report,
    test: &str,
    layout: &str,
    size: u64,
    iterations: u64,
) -> Result<String> {
    let arguments =
        format!("-x posix -d memory -t {test} -D {layout} -s {size} -n {iterations} -w 10000 -p 13399");
    let server: Vec<&str> = arguments.split(' ').collect();
    let client = [&["127.0.0.1", "-v", "-f"], server.as_slice()].concat();
    pair(context, report, "ucx_perftest", &server, &client).map(|(output, _)| output)
}

/// `iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr`; times in microseconds,
/// bandwidth in MiB/s.
pub fn ucx_figure(output: &str, value: Ucx) -> Result<f64> {
    let line = output
        .lines()
        .rfind(|l| l.starts_with(|c: char| c.is_ascii_digit()));
    let fields: Vec<f64> = line
        .unwrap_or_default()
        .split(',')
        .map_while(|f| f.parse().ok())
        .collect();
    let &[_, p50, _, mean, _, bandwidth, _, rate] = fields.as_slice() else {
        bail!("cannot read ucx_perftest's output");
    };
    Ok(match value {
        Ucx::RoundTripNs => p50 * 2.0 * 1e3,
        Ucx::MeanRoundTripNs => mean * 2.0 * 1e3,
        Ucx::Rate => rate,
        Ucx::Bandwidth => bandwidth * f64::from(1 << 20),
    })
}

/// iperf3 over loopback, one stream; bytes a second.
pub fn iperf3(
    context: &Context,
    report: &mut Report,
    size_bytes: u64,
    congestion: &str,
    seconds: u32,
) -> Result<f64> {
    let server = "-s -1 -p 13500 -B 127.0.0.1";
    let client = format!("-c 127.0.0.1 -p 13500 -t {seconds} -l {size_bytes} -C {congestion} -J");
    let (server, client): (Vec<&str>, Vec<&str>) = (server.split(' ').collect(), client.split(' ').collect());
    iperf_figure(&pair(context, report, "iperf3", &server, &client)?.0)
}

/// Bytes a second that arrived, of iperf3's JSON.
pub fn iperf_figure(output: &str) -> Result<f64> {
    let document: Value = serde_json::from_str(output).context("iperf3 printed no JSON")?;
    let bits = document["end"]["sum_received"]["bits_per_second"].as_f64();
    Ok(bits.context("cannot read iperf3's output")? / 8.0)
}

/// sockperf over loopback; round trip of the median in ns.
pub fn sockperf(
    context: &Context,
    report: &mut Report,
    size_bytes: u64,
    busy: bool,
    seconds: u32,
) -> Result<f64> {
    let polling = if busy { " --nonblocked" } else { "" };
    let server = format!("sr --tcp -i 127.0.0.1 -p 13600{polling}");
    let client = format!("pp --tcp -i 127.0.0.1 -p 13600 -m {size_bytes} -t {seconds}{polling}");
    let (server, client): (Vec<&str>, Vec<&str>) = (server.split(' ').collect(), client.split(' ').collect());
    sockperf_figure(&pair(context, report, "sockperf", &server, &client)?.0)
}

/// Datagrams a second that arrived, of iperf3's JSON.
pub fn iperf_datagrams(output: &str) -> Result<f64> {
    let document: Value = serde_json::from_str(output).context("iperf3 printed no JSON")?;
    let sum = &document["end"]["sum_received"];
    let number = |name: &str| sum[name].as_f64();
    let rate = || Some((number("packets")? - number("lost_packets")?) / number("seconds")?);
    rate().context("cannot read iperf3's datagrams")
}

/// `sockperf: ---> percentile 50.000 =   28.722`, in microseconds, half a round trip.
pub fn sockperf_figure(output: &str) -> Result<f64> {
    let line = output.lines().find(|l| l.contains("percentile 50.000"));
    let value = line
        .and_then(|l| l.rsplit('=').next())
        .and_then(|v| v.trim().parse::<f64>().ok());
    Ok(value.context("cannot read sockperf's output")? * 2.0 * 1e3)
}

/// A loop in C under an MPI library.
pub fn loop_figure(
    mpi: &Mpi,
    context: &Context,
    report: &mut Report,
    arguments: &str,
    which: Figure,
) -> Result<f64> {
    let mut command = mpi.launch(&context.built.join(mpi.loops));
    command.args(arguments.split(' '));
    let (shown, output) = context.launch(command)?;
    report.raw(&shown, &output);
    let numbers: Vec<f64> = output.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    let figure = numbers.get(which as usize).copied();
    figure.with_context(|| format!("cannot read {output:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_peers_are_read() {
        let ucx = "iterations,50.0_percentile_lat,avg_lat\n1000000,0.010,0.009,0.009,826.23,512.0,108296106,108296100\n";
        assert_eq!(ucx_figure(ucx, Ucx::RoundTripNs).unwrap(), 20.0);
        assert_eq!(ucx_figure(ucx, Ucx::Rate).unwrap(), 108296100.0);
        assert_eq!(ucx_figure(ucx, Ucx::Bandwidth).unwrap(), 512.0 * 1048576.0);
        let iperf = r#"{"end": {"sum_received": {"bits_per_second": 80}}}"#;
        assert_eq!(iperf_figure(iperf).unwrap(), 10.0);
        let sockperf = "sockperf: ---> percentile 50.000 =   28.722\n";
        assert_eq!(sockperf_figure(sockperf).unwrap(), 57444.0);
        assert!(ucx_figure("error", Ucx::Rate).is_err());
        assert!(iperf_figure("{}").is_err());
        assert!(sockperf_figure("").is_err());
    }
}
