//! Servers at the far end. A script goes to a shell there on stdin: it starts the server, tells so, and ends it as soon as
//! its stdin ends. However this process goes, the server goes with it, over ssh as well.

use super::Mover;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use wirespeed_schema::shown::{self, for_shell};

/// How long a shell there may take to answer, a login included.
const ANSWER: Duration = Duration::from_secs(30);
/// How long a server may take to listen.
const LISTEN: Duration = Duration::from_secs(10);
/// How long a server may take to end.
const END: Duration = Duration::from_secs(5);

/// Where servers are started, and what they serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarEnd {
    /// Words that run a command there; none for this machine.
    pub run: Vec<String>,
    /// What wirespeed is called there.
    pub program: String,
    /// The file, as that machine names it.
    pub file: String,
    /// Its address.
    pub at: IpAddr,
    /// Whether servers take files, into a folder of their own, instead of giving the file.
    pub takes: bool,
}

/// A server that runs.
pub struct FarServer {
    child: Child,
    stdin: Option<ChildStdin>,
    said: Receiver<String>,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Where it listens.
    pub port: u16,
}

/// How starting went.
pub enum Started {
    /// It listens.
    Ready(FarServer),
    /// It is not to be had there, for this reason.
    Absent(String),
}

/// Program, preparation and command of a server. They may use `$file`, `$at`, `$port`, `$dir`, and
/// `$root` and `$takes`, which are `yes` or `no`.
fn server(mover: Option<Mover>, far: &FarEnd) -> Option<(String, &'static str, String)> {
    let words = |program: &str, prepare: &'static str, command: &str| {
        Some((program.to_owned(), prepare, command.to_owned()))
    };
    match mover {
        None => words(
            &far.program,
            "",
            &match far.takes {
                false => format!(
                    "{} byteio serve \"$file\" --listen \"$at\" --plain --port \"$port\"",
                    for_shell(&far.program)
                ),
                true => format!(
                    "{} byteio serve \"$dir/to\" --writable --listen loopback --port \"$port\"",
                    for_shell(&far.program)
                ),
            },
        ),
        Some(Mover::Iperf3) => words("iperf3", "", "iperf3 -s -B \"$at\" -p \"$port\""),
        Some(Mover::Curl | Mover::Aria2) => words("nginx", NGINX, "nginx -p \"$dir\" -c \"$dir/conf\""),
        Some(Mover::GridFtp) => words(
            "globus-gridftp-server",
            GRIDFTP,
            "GLOBUS_HOSTNAME=\"$at\" globus-gridftp-server -s -aa $user -anonymous-names-allowed '*' -p \"$port\" -control-interface \"$at\" -data-interface \"$at\" -c /dev/null -l \"$dir/server\"",
        ),
        Some(Mover::Xrootd) => words(
            "xrootd",
            XROOTD,
            "xrootd -c \"$dir/conf\" -l \"$dir/server\" $user",
        ),
        Some(Mover::Mounted) => None,
    }
}

const NGINX: &str = r#"
[ $root = yes ] && user="user root;" || user=
put=
if [ $takes = yes ]; then
  nginx -V 2>&1 | grep -q http_dav_module || { echo absent nginx has no module dav at the far end; exit 0; }
  put="location /to/ { root $dir; dav_methods PUT; client_max_body_size 0; }"
fi
case $at in *:*) host="[$at]";; *) host=$at;; esac
# Its own words, such as $x, in the name of the file would be taken for what they mean to it.
ln -s "$(realpath "$file")" "$dir/served"
cat >"$dir/conf" <<END
$user
daemon off;
worker_processes auto;
error_log $dir/error;
pid $dir/pid;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  client_body_temp_path $dir/a; proxy_temp_path $dir/b; fastcgi_temp_path $dir/c; uwsgi_temp_path $dir/d; scgi_temp_path $dir/e;
  server { listen $host:$port; location = /file { alias $dir/served; } $put }
}
END
"#;

/// It refuses to serve as root, and takes on nobody's rights instead. It looks its own name up, which takes long where no
/// name service is, unless it is told.
const GRIDFTP: &str = r#"
nobody_reads
[ $root = yes ] && user="-anonymous-user nobody -anonymous-group nogroup" || user=
"#;

const XROOTD: &str = r#"
nobody_reads
[ $root = yes ] && { user="-R nobody"; chown -R nobody "$dir"; } || user=
cat >"$dir/conf" <<END
all.export $(dirname "$file") r/o
all.adminpath $dir
all.pidpath $dir
xrd.port $port
END
chmod 644 "$dir/conf"
"#;

/// The script that starts a server, tells `started BYTES` or `absent REASON`, and ends it with its stdin.
fn script(far: &FarEnd, port: u16, (program, prepare, command): (String, &str, String)) -> String {
    let (file, at, program) = (
        for_shell(&far.file),
        for_shell(&far.at.to_string()),
        for_shell(&program),
    );
    // What is taken goes into memory where there is such a file system, like everything else that is not the path.
    let (takes, near) = match far.takes {
        true => ("yes", "mktemp -d -p /dev/shm wirespeed-XXXXXX 2>/dev/null || "),
        false => ("no", ""),
    };
    format!(
        r#"PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
file={file} at={at} port={port} root=no takes={takes}
[ "$(id -u)" = 0 ] && root=yes
command -v {program} >/dev/null 2>&1 || {{ echo absent {program} is not installed at the far end; exit 0; }}
[ -f "$file" ] && [ -r "$file" ] || {{ echo absent "$file" cannot be read at the far end; exit 0; }}
dir=$({near}mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/to"
nobody_reads() {{ [ $root = no ] || setpriv --reuid=nobody --clear-groups test -r "$file" || {{ echo absent {program} serves as nobody, who cannot read "$file"; exit 0; }}; }}
{prepare}
{command} </dev/null >"$dir/log" 2>&1 &
pid=$!
end() {{ kill $pid 2>/dev/null; wait $pid 2>/dev/null; cat "$dir/log" "$dir/error" "$dir/server" 2>/dev/null | tail -n 1; rm -rf "$dir"; }}
trap end EXIT
trap 'exit 1' HUP INT TERM
echo "started $(($(wc -c <"$file")))"
cat >/dev/null
"#
    )
}

impl FarEnd {
    /// Why a mover's server cannot listen where this end is, if it cannot.
    pub fn why_not(&self, mover: Mover) -> Option<&'static str> {
        let loopback = mover == Mover::Xrootd && self.at.is_loopback();
        loopback.then_some("xrootd cannot listen on loopback alone; try it inside `wirespeed lab`")
    }

    /// Start a mover's server, or with `None` this project's service, and wait until it listens.
    pub fn start(&self, mover: Option<Mover>, port: u16) -> Result<Started, String> {
        let Some(server) = server(mover, self) else {
            return Err("it has no server".to_owned());
        };
        let name = server.0.clone();
        let mut server = self.shell(&script(self, port, server), port)?;
        let first = server.said.recv_timeout(ANSWER);
        let first = first.map_err(|_| format!("the far end does not answer ({})", self.shell_name()))?;
        match first.split_once(' ') {
            Some(("started", bytes)) => server.file_bytes = bytes.trim().parse().unwrap_or(0),
            Some(("absent", why)) => return Ok(Started::Absent(why.to_owned())),
            _ => return Err(format!("the far end said {first:?}")),
        }
        match self.listens(&mut server, port) {
            true => Ok(Started::Ready(server)),
            false => Err(format!("{name} does not listen: {}", server.last_words())),
        }
    }

    fn shell_name(&self) -> String {
        self.run.first().cloned().unwrap_or_else(|| "sh".to_owned())
    }

    fn shell(&self, script: &str, port: u16) -> Result<FarServer, String> {
        let mut words = self.run.iter().map(String::as_str).chain(["sh"]);
        let mut command = Command::new(words.next().unwrap_or("sh"));
        command
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Ctrl-C is for us; the server ends when we do.
            .process_group(0);
        let failed = |e: std::io::Error| format!("cannot run {}: {e}", self.shell_name());
        let mut child = command.spawn().map_err(failed)?;
        let mut stdin = child.stdin.take();
        if let Some(stdin) = &mut stdin {
            stdin.write_all(script.as_bytes()).map_err(failed)?;
        }
        let (tell, said) = channel();
        let stdout = child.stdout.take();
        std::thread::spawn(move || {
            let lines = stdout.map(|stdout| BufReader::new(stdout).lines());
            for line in lines.into_iter().flatten().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(FarServer {
            child,
            stdin,
            said,
            file_bytes: 0,
            port,
        })
    }

    fn listens(&self, server: &mut FarServer, port: u16) -> bool {
        let address = SocketAddr::new(self.at, port);
        let deadline = Instant::now() + LISTEN;
        while Instant::now() < deadline && matches!(server.child.try_wait(), Ok(None)) {
            if TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    }
}

impl FarServer {
    /// End it, and what its log said last.
    fn last_words(&mut self) -> String {
        drop(self.stdin.take());
        let mut last = "it said nothing".to_owned();
        while let Ok(line) = self.said.recv_timeout(END) {
            if !line.trim().is_empty() {
                last = line;
            }
        }
        shown::quoted(&last, 200)
    }
}

impl Drop for FarServer {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let deadline = Instant::now() + END;
        while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        // It is gone, unless its shell hangs.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn far(file: &str) -> FarEnd {
        FarEnd {
            run: Vec::new(),
            program: "no-such-wirespeed".into(),
            file: file.into(),
            at: IpAddr::from([127, 0, 0, 1]),
            takes: false,
        }
    }

    #[test]
    fn names_cannot_leave_their_quotes() {
        assert_eq!(for_shell("a'b; rm"), "'a'\\''b; rm'");
    }

    #[test]
    fn what_is_not_there_is_said() {
        let Ok(Started::Absent(why)) = far("/dev/null").start(None, 1) else {
            panic!("a program that does not exist was started");
        };
        assert!(why.contains("no-such-wirespeed is not installed"), "{why}");
        let sh = FarEnd {
            program: "sh".into(),
            ..far("/no/such file")
        };
        let Ok(Started::Absent(why)) = sh.start(None, 1) else {
            panic!("a file that does not exist was served");
        };
        assert!(why.contains("/no/such file cannot be read"), "{why}");
        let nobody = FarEnd {
            run: vec!["no-such-ssh".into()],
            ..far("/dev/null")
        };
        assert!(
            nobody
                .start(None, 1)
                .is_err_and(|why| why.contains("no-such-ssh"))
        );
    }

    /// A server that ends at once is told with its last words, and leaves nothing.
    #[test]
    fn a_server_that_fails_is_told() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let false_one = FarEnd {
            program: "false".into(),
            ..far(&file.path().display().to_string())
        };
        // Port 1 is nobody's.
        assert!(
            false_one
                .start(None, 1)
                .is_err_and(|why| why.contains("false does not listen"))
        );
    }
}
