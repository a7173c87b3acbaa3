//! The hardware counter of each architecture.

#[cfg(target_arch = "x86_64")]
mod imp {
    pub const NAME: &str = "tsc";

    /// Constant rate in all power states: CPUID 8000_0007h, EDX bit 8 (Intel SDM 18.17.1, AMD APM 3, Fn8000_0007).
    pub fn is_invariant() -> bool {
        use core::arch::x86_64::__cpuid;
        __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0
    }

    #[inline(always)]
    pub fn read() -> u64 {
        // SAFETY: every x86-64 has RDTSC; Linux leaves it enabled in user mode (PR_SET_TSC aside).
        unsafe { core::arch::x86_64::_rdtsc() }
    }
}

#[cfg(target_arch = "aarch64")]
mod imp {
    pub const NAME: &str = "cntvct";

    /// The generic timer counts at a constant rate by definition.
    pub fn is_invariant() -> bool {
        true
    }

    #[inline(always)]
    pub fn read() -> u64 {
        let ticks: u64;
        // SAFETY: CNTVCT_EL0 is readable in user mode on Linux; the instruction has no other effect.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod imp {
    pub const NAME: &str = "none";

    pub fn is_invariant() -> bool {
        false
    }

    pub fn read() -> u64 {
        super::super::monotonic_ns()
    }
}

pub use imp::{NAME, is_invariant, read};
