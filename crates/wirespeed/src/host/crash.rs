//! The last line of a process that crashes: the signal, the address, and the objects in which it happened, so that a crash
//! seen once can be traced.
//!
//! The handler must never allocate, lock, or keep the process alive: what was installed before it decides what follows.
//! A library that installs its own handlers later has the last word.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends that no code plans. `SIGABRT` is left out: whoever aborts says why.
const SIGNALS: [(c_int, &str); 4] = [
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGFPE, "SIGFPE"),
];
/// Words of the stack that are looked at for places of return.
const WORDS: usize = 256;
/// Places of return that are told.
const CALLERS_MAX: usize = 6;
const LINE_BYTES: usize = 2048;
const MAPS_BYTES: usize = 8192;

struct Watch {
    who: String,
    before: [libc::sigaction; SIGNALS.len()],
}

static WATCH: OnceLock<Watch> = OnceLock::new();
static SAID: AtomicBool = AtomicBool::new(false);
static ROOM: Room = Room(UnsafeCell::new(Buffers {
    line: [0; LINE_BYTES],
    maps: [0; MAPS_BYTES],
    stack: [0; WORDS],
}));

/// Memory of the handler, which may run on a stack of a few KiB.
struct Room(UnsafeCell<Buffers>);

struct Buffers {
    line: [u8; LINE_BYTES],
    maps: [u8; MAPS_BYTES],
    stack: [usize; WORDS],
}

// SAFETY: only the one thread that has won `SAID` touches it.
unsafe impl Sync for Room {}

/// From now on a crash of this process writes one line to stderr, which begins with `who` it was. The first call counts.
pub fn tell_of_crashes(who: &str) {
    let before = SIGNALS.map(|(signal, _)| {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: asks only; the action is plain data, for which zeroes are valid.
        unsafe {
            libc::sigaction(signal, core::ptr::null(), action.as_mut_ptr());
            action.assume_init()
        }
    });
    let node = rustix::system::uname();
    let node = node.nodename().to_string_lossy();
    let who = format!("wirespeed: {who} on {node} crashed with ");
    if WATCH.set(Watch { who, before }).is_err() {
        return;
    }
    for (signal, _) in SIGNALS {
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = crashed;
        // SAFETY: zeroes are a valid action; the handler has the signature that SA_SIGINFO asks for, and does only what a
        // handler may do.
        unsafe {
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, &action, null_mut());
        }
    }
}

extern "C" fn crashed(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(watch) = WATCH.get() else { return };
    let number = SIGNALS.iter().position(|(s, _)| *s == signal).unwrap_or(0);
    // SAFETY: the kernel's description of the signal.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    let sent = code <= 0;
    if !SAID.swap(true, Ordering::AcqRel) {
        // SAFETY: the swap lets one thread in, once.
        let room = unsafe { &mut *ROOM.0.get() };
        let mut line = Line {
            room: &mut room.line,
            len: 0,
        };
        line.text(watch.who.as_bytes());
        line.text(SIGNALS[number].1.as_bytes());
        if sent {
            line.text(b", sent by a process");
        } else {
            line.text(b" at address ");
            line.number(address);
            tell_places(&mut line, &mut room.maps, &mut room.stack, place_of(context));
        }
        line.text(b"\n");
        // SAFETY: `len` bytes of the line; stderr is a number.
        unsafe { libc::write(2, line.room.as_ptr().cast(), line.len) };
    }
    // What the processor raised comes again on return, to the action that was there before. What a process sent comes once;
    // that of Rust's runtime would wait for the second.
    // SAFETY: an action of the kernel's own making, or the default.
    unsafe {
        if sent {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        } else {
            libc::sigaction(signal, &watch.before[number], null_mut());
        }
    }
}

/// Instruction and stack pointer where the signal struck.
#[cfg(target_arch = "x86_64")]
fn place_of(context: *mut c_void) -> (usize, usize) {
    // SAFETY: the third argument of a handler with SA_SIGINFO.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let register = |number: c_int| registers[number as usize] as usize;
    (register(libc::REG_RIP), register(libc::REG_RSP))
}

/// Instruction and stack pointer where the signal struck.
#[cfg(target_arch = "aarch64")]
fn place_of(context: *mut c_void) -> (usize, usize) {
    // SAFETY: the third argument of a handler with SA_SIGINFO.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    (registers.pc as usize, registers.sp as usize)
}

/// The object of the instruction, and those of what looks like places of return on the stack, nearest first.
fn tell_places(line: &mut Line, maps: &mut [u8], stack: &mut [usize; WORDS], (pc, sp): (usize, usize)) {
    line.text(b", in ");
    if !tell_object(line, maps, pc) {
        line.text(b"no code");
    }
    let into = libc::iovec {
        iov_base: stack.as_mut_ptr().cast(),
        iov_len: size_of_val(stack),
    };
    let from = libc::iovec {
        iov_base: sp as *mut c_void,
        iov_len: size_of_val(stack),
    };
    // SAFETY: the kernel copies to memory of this function, and fails where the stack cannot be read.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &into, 1, &from, 1, 0) };
    let words = usize::try_from(read).unwrap_or(0) / size_of::<usize>();
    let mut told = 0;
    for word in &stack[..words] {
        if told == CALLERS_MAX {
            break;
        }
        let end = line.len;
        line.text(if told == 0 { b", below " } else { b", " });
        if tell_object(line, maps, *word) {
            told += 1;
        } else {
            line.len = end;
        }
    }
}

/// `FILE+OFFSET` of the executable mapping that holds `address`, as `addr2line` takes it; false where there is none.
fn tell_object(line: &mut Line, maps: &mut [u8], address: usize) -> bool {
    // SAFETY: a constant path.
    let file = unsafe { libc::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return false;
    }
    let (mut kept, mut base, mut found) = (0, 0, false);
    'file: loop {
        let room = &mut maps[kept..];
        // SAFETY: writes at most the room that is left.
        let read = unsafe { libc::read(file, room.as_mut_ptr().cast(), room.len()) };
        let Ok(read @ 1..) = usize::try_from(read) else {
            break;
        };
        let filled = kept + read;
        let mut start = 0;
        while let Some(length) = maps[start..filled].iter().position(|byte| *byte == b'\n') {
            let mapping = Mapping::of(&maps[start..start + length]);
            start += length + 1;
            if mapping.offset == 0 {
                base = mapping.start;
            }
            if mapping.is_code && (mapping.start..mapping.end).contains(&address) {
                line.text(mapping.file);
                line.text(b"+");
                line.number(address - base);
                found = true;
                break 'file;
            }
        }
        if start == 0 && filled == maps.len() {
            // A line longer than all the room.
            break;
        }
        maps.copy_within(start..filled, 0);
        kept = filled - start;
    }
    // SAFETY: the file was opened above.
    unsafe { libc::close(file) };
    found
}

/// A line of `/proc/self/maps`.
struct Mapping<'a> {
    start: usize,
    end: usize,
    offset: usize,
    is_code: bool,
    file: &'a [u8],
}

impl<'a> Mapping<'a> {
    fn of(line: &'a [u8]) -> Self {
        let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        let mut next = || words.next().unwrap_or_default();
        let (range, rights, offset) = (next(), next(), next());
        let (_device, _inode) = (next(), next());
        let dash = range.iter().position(|byte| *byte == b'-').unwrap_or(range.len());
        Mapping {
            start: hexadecimal(&range[..dash]),
            end: hexadecimal(range.get(dash + 1..).unwrap_or_default()),
            offset: hexadecimal(offset),
            is_code: rights.get(2) == Some(&b'x'),
            file: next(),
        }
    }
}

fn hexadecimal(digits: &[u8]) -> usize {
    let digit = |byte: &u8| (*byte as char).to_digit(16).unwrap_or(0) as usize;
    digits.iter().fold(0, |number, byte| (number << 4) | digit(byte))
}

/// Text in memory of a fixed size; what does not fit is cut.
struct Line<'a> {
    room: &'a mut [u8; LINE_BYTES],
    len: usize,
}

impl Line<'_> {
    fn text(&mut self, text: &[u8]) {
        // The last byte is kept for the end of the line.
        let last = if text == b"\n" { LINE_BYTES } else { LINE_BYTES - 1 };
        let fits = text.len().min(last - self.len.min(last));
        self.room[self.len..self.len + fits].copy_from_slice(&text[..fits]);
        self.len += fits;
    }

    /// In base 16, with its mark.
    fn number(&mut self, number: usize) {
        let mut digits = [0; 2 * size_of::<usize>()];
        let (mut rest, mut first) = (number, digits.len());
        loop {
            first -= 1;
            digits[first] = b"0123456789abcdef"[rest % 16];
            rest /= 16;
            if rest == 0 {
                break;
            }
        }
        self.text(b"0x");
        self.text(&digits[first..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Output};

    const VARIABLE: &str = "WIRESPEED_TEST_CRASH";

    /// This very test in a process of its own, which crashes as `how` says.
    fn child(how: &str) -> Output {
        let name = "host::crash::tests::a_crash_is_told_and_still_ends_the_process";
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([name, "--exact", "--nocapture"]).env(VARIABLE, how);
        command.output().unwrap()
    }

    fn crash(how: &str) -> ! {
        let none = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        tell_of_crashes("rank 7");
        tell_of_crashes("nobody");
        // SAFETY: a process that is to end here; no memory dump is wanted.
        unsafe {
            libc::setrlimit(libc::RLIMIT_CORE, &none);
            match how {
                "read" => {
                    core::ptr::read_volatile(core::hint::black_box(0x18) as *const u8);
                }
                "call" => core::mem::transmute::<usize, extern "C" fn()>(core::hint::black_box(8))(),
                _ => {
                    libc::raise(libc::SIGBUS);
                }
            }
        }
        std::process::exit(0)
    }

    #[test]
    fn a_crash_is_told_and_still_ends_the_process() {
        if let Ok(how) = std::env::var(VARIABLE) {
            crash(&how);
        }
        let own = std::env::current_exe().unwrap();
        let own = own.file_name().unwrap().to_string_lossy().into_owned();
        let node = rustix::system::uname().nodename().to_string_lossy().into_owned();
        for (how, signal, said) in [
            ("read", libc::SIGSEGV, "SIGSEGV at address 0x18, in /"),
            (
                "call",
                libc::SIGSEGV,
                "SIGSEGV at address 0x8, in no code, below /",
            ),
            ("raise", libc::SIGBUS, "SIGBUS, sent by a process"),
        ] {
            let output = child(how);
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.signal(), Some(signal), "{how}: {text}");
            let lines: Vec<&str> = text.lines().filter(|l| l.starts_with("wirespeed: ")).collect();
            let [line] = lines[..] else {
                panic!("{how}: {text}")
            };
            let begin = format!("wirespeed: rank 7 on {node} crashed with {said}");
            assert!(line.starts_with(&begin), "{how}: {line}");
            assert!(
                how == "raise" || line.contains(&format!("{own}+0x")),
                "{how}: {line}"
            );
        }
    }

    #[test]
    fn a_line_that_is_full_is_cut_and_still_ends() {
        let mut room = [0; LINE_BYTES];
        let mut line = Line {
            room: &mut room,
            len: 0,
        };
        for _ in 0..LINE_BYTES {
            line.number(usize::MAX);
        }
        line.text(b"\n");
        assert_eq!(line.len, LINE_BYTES);
        assert!(room.starts_with(b"0xffffffff") && room.ends_with(b"\n"));
    }
}
