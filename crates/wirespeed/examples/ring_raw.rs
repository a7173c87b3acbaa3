use std::sync::Barrier;
use std::time::Instant;
use std::sync::atomic::*;
use wirespeed::sync::SharedBytes;
use wirespeed::sync::ring::*;

fn pin(cpu: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    rustix::thread::sched_setaffinity(None, &set).unwrap();
}
fn ring(cap: usize) -> (Producer<RingMemory>, Consumer<RingMemory>) {
    let m = RingMemory::new(SharedBytes::heap(RingMemory::size_bytes(cap)).unwrap()).unwrap();
    (Producer::new(m.clone()), Consumer::new(m))
}
#[repr(align(128))]
struct Line(AtomicU64);
fn bounce(pause: bool) -> f64 {
    let l = Line(AtomicU64::new(0));
    let mut best = vec![];
    let n = 20000u64;
    std::thread::scope(|s| {
        s.spawn(|| { pin(1); for i in 0..n*20 { while l.0.load(Ordering::Acquire) != 2*i+1 { if pause {std::hint::spin_loop()} } l.0.store(2*i+2, Ordering::Release); } });
        pin(0);
        let mut i = 0;
        for _ in 0..20 { let t = Instant::now(); for _ in 0..n { l.0.store(2*i+1, Ordering::Release); while l.0.load(Ordering::Acquire) != 2*i+2 { if pause {std::hint::spin_loop()} } i += 1; } best.push(t.elapsed().as_nanos() as f64 / n as f64 / 2.0); }
    });
    best.sort_by(f64::total_cmp); best[best.len()/2]
}
fn pingpong(cap: usize, size: usize, pause: bool) -> f64 {
    let (mut pa, mut ca) = ring(cap); let (mut pb, mut cb) = ring(cap);
    let n = 20000u64; let mut v = vec![];
    std::thread::scope(|s| {
        s.spawn(move || { pin(1); let d = vec![0u8; size]; for _ in 0..n*20 { while !ca.next(|h, _| { std::hint::black_box(h); }).unwrap() { if pause {std::hint::spin_loop()} } pb.send(1, &d).unwrap(); } });
        pin(0); let d = vec![0u8; size];
        for _ in 0..20 { let t = Instant::now(); for _ in 0..n { pa.send(1, &d).unwrap(); while !cb.next(|h, _| { std::hint::black_box(h); }).unwrap() { if pause {std::hint::spin_loop()} } } v.push(t.elapsed().as_nanos() as f64 / n as f64 / 2.0); }
    });
    v.sort_by(f64::total_cmp); v[v.len()/2]
}
fn stream(cap: usize, size: usize, n: u64, backoff: u32) -> f64 {
    let (mut p, mut c) = ring(cap); let mut v = vec![];
    let b = Barrier::new(2);
    let mut maxburst = 0; let mut empties = 0u64;
    std::thread::scope(|s| {
        s.spawn(|| { pin(1); let d = vec![0u8; size]; for _ in 0..20 { b.wait(); let mut seq = 0u64; while seq < n { if p.send(seq, &d).unwrap() { seq += 1 } else { std::hint::spin_loop() } } } });
        pin(0);
        for _ in 0..20 { b.wait(); let t = Instant::now(); let mut seq = 0u64; let mut bad = 0u64; let mut sum = 0u64;
            while seq < n {
                let mut k = 0u64;
                while c.next(|h, d| { bad += u64::from(h != seq); sum += d[0] as u64; seq += 1; }).unwrap() { k += 1; }
                maxburst = maxburst.max(k); empties += 1;
                if k > 0 { for _ in 0..backoff { std::hint::spin_loop() } } else { std::hint::spin_loop() }
            }
            assert_eq!(bad, 0); std::hint::black_box(sum);
            v.push(t.elapsed().as_nanos() as f64 / n as f64); }
    });
    v.sort_by(f64::total_cmp); 
    eprint!("[maxburst {maxburst} empties {:.4}/msg]", empties as f64 / (20*n) as f64);
    v[v.len()/2]
}
fn main() {
    let t = Instant::now(); for _ in 0..100000 { std::hint::spin_loop() } println!("pause {:.1} ns", t.elapsed().as_nanos() as f64 / 1e5);
    for _ in 0..3 {
    println!("bounce {:.1} / pause {:.1}", bounce(false), bounce(true));
    println!("pingpong 8 {:.1} / pause {:.1}", pingpong(65536, 8, false), pingpong(65536, 8, true));
    }
    for cap in [65536, 131072, 262144, 1<<20, 4<<20] { for backoff in [0, 1, 4, 8, 16, 32, 64] { println!("stream 8 cap {cap} backoff {backoff}: {:.2} ns", stream(cap, 8, 1000000, backoff)); } }
    let src = vec![1u8; 1<<20]; let mut dst = vec![0u8; 1<<20];
    let mut v = vec![]; for _ in 0..50 { let t = Instant::now(); for _ in 0..20 { dst.copy_from_slice(&src); std::hint::black_box(&mut dst); } v.push((1u64<<20) as f64 * 20.0 / t.elapsed().as_nanos() as f64); } v.sort_by(f64::total_cmp);
    println!("memcpy 1M {:.2} GB/s", v[25]);
    for cap in [4<<20, 8<<20, 16<<20] { println!("1M cap {cap} {:.2} GB/s", (1u64<<20) as f64 / stream(cap, 1<<20, 500, 4)); }
}
