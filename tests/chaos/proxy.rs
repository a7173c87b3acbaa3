//! A path between two ends that can fail: it takes connections, passes bytes both ways, and closes, holds back or slows them
//! when told to. It must never change, lose or add a byte of what it passes.

use crate::plan::Fault;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Between two looks at what is to be done.
const LOOK: Duration = Duration::from_millis(20);
/// Between two drops of a drip.
const DRIP: Duration = Duration::from_millis(50);

/// What its threads share.
#[derive(Default)]
struct State {
    fault: Option<(Fault, Option<Instant>)>,
    streams: Vec<TcpStream>,
    is_over: bool,
}

/// The path; closed when dropped.
pub struct Proxy {
    state: Arc<Mutex<State>>,
    address: SocketAddr,
    far_port: u16,
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Proxy {
    /// A path to this port on loopback.
    pub fn to(port: u16) -> std::io::Result<Proxy> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let state = Arc::new(Mutex::new(State::default()));
        let here = state.clone();
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let refuses = {
                    let state = locked(&here);
                    if state.is_over {
                        return;
                    }
                    matches!(state.fault, Some((Fault::Refuse, _)))
                };
                // A far end that is gone closes the near end, as a router's reset would.
                if let (false, Ok(far)) = (refuses, TcpStream::connect(("127.0.0.1", port))) {
                    join(&here, near, far);
                }
            }
        });
        Ok(Proxy {
            state,
            address,
            far_port: port,
        })
    }

    /// Its own port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Where it leads.
    pub fn far_port(&self) -> u16 {
        self.far_port
    }

    /// Fail from now on.
    pub fn fail(&self, fault: Fault) {
        let mut state = locked(&self.state);
        let until = match fault {
            Fault::Hiccup(pause) | Fault::Drip(pause, _) => Some(Instant::now() + pause),
            _ => None,
        };
        state.fault = Some((fault, until));
        if matches!(fault, Fault::Cut | Fault::Refuse) {
            close(&mut state);
        }
    }

    /// Pass everything again.
    pub fn heal(&self) {
        locked(&self.state).fault = None;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let mut state = locked(&self.state);
        state.is_over = true;
        close(&mut state);
        drop(state);
        // The listener waits for one more connection before it looks.
        let _ = TcpStream::connect(self.address);
    }
}

fn close(state: &mut State) {
    for stream in state.streams.drain(..) {
        // It may be closed already.
        let _ = stream.shutdown(Shutdown::Both);
    }
}

/// Pass bytes between two streams, both ways, each in a thread of its own.
fn join(state: &Arc<Mutex<State>>, near: TcpStream, far: TcpStream) {
    for (from, to) in [(&near, &far), (&far, &near)] {
        let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else {
            return;
        };
        // Small messages are not to wait for each other here.
        let _ = to.set_nodelay(true);
        let state = state.clone();
        std::thread::spawn(move || pass(&state, from, to));
    }
    locked(state).streams.extend([near, far]);
}

fn pass(state: &Mutex<State>, mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 65536];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let mut rest = &buffer[..read];
        while !rest.is_empty() {
            let now = match room(state) {
                None => break,
                Some(0) => {
                    std::thread::sleep(LOOK);
                    continue;
                }
                Some(most) => most.min(rest.len()),
            };
            if to.write_all(&rest[..now]).is_err() {
                break;
            }
            rest = &rest[now..];
            if !rest.is_empty() {
                std::thread::sleep(DRIP);
            }
        }
        if !rest.is_empty() {
            break;
        }
    }
    // Whatever ended it, no end is to wait for the other.
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}

/// How many bytes may pass now; none where it is over.
fn room(state: &Mutex<State>) -> Option<usize> {
    let state = locked(state);
    if state.is_over {
        return None;
    }
    Some(match state.fault {
        Some((Fault::Stall, _)) => 0,
        Some((Fault::Hiccup(_), Some(until))) if Instant::now() < until => 0,
        Some((Fault::Drip(_, bytes), Some(until))) if Instant::now() < until => bytes,
        _ => usize::MAX,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes back of `sent` over a path, behind which everything is sent back.
    fn echoed(proxy: &Proxy, sent: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        // A closed path fails here or at the end.
        let _ = stream.write_all(sent);
        let _ = stream.shutdown(Shutdown::Write);
        let mut back = Vec::new();
        let _ = stream.read_to_end(&mut back);
        back
    }

    #[test]
    fn it_passes_slows_holds_and_closes() {
        let far = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy::to(far.local_addr().unwrap().port()).unwrap();
        std::thread::spawn(move || {
            for mut stream in far.incoming().map_while(Result::ok) {
                std::thread::spawn(move || {
                    let mut all = Vec::new();
                    let _ = stream.read_to_end(&mut all);
                    let _ = stream.write_all(&all);
                });
            }
        });
        let sent: Vec<u8> = (0..100_000u32).map(|i| (i * 7) as u8).collect();
        assert!(echoed(&proxy, &sent) == sent);
        proxy.fail(Fault::Drip(Duration::from_secs(9), 50_000));
        assert!(echoed(&proxy, &sent) == sent);
        proxy.fail(Fault::Hiccup(Duration::from_millis(200)));
        assert!(echoed(&proxy, &sent) == sent);
        for fault in [Fault::Stall, Fault::Refuse] {
            proxy.fail(fault);
            assert_eq!(echoed(&proxy, &sent), Vec::<u8>::new(), "{fault:?}");
        }
        proxy.heal();
        assert!(echoed(&proxy, &sent) == sent);
    }
}
