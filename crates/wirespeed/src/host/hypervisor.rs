//! The virtual machine's vendor, where one is visible. It must never name one on bare metal: a vendor of boards may also
//! sell virtual machines.

use super::files::Files;

/// There is one, but no file tells its name.
pub(super) const UNNAMED: &str = "unnamed";

/// Vendor of the virtual machine. On x86 the CPU itself tells that there is one.
pub(super) fn hypervisor(files: &Files) -> Option<String> {
    let flags = files.value("/proc/cpuinfo", "flags");
    let says_yes = flags
        .as_ref()
        .is_some_and(|f| f.split_whitespace().any(|flag| flag == "hypervisor"));
    if flags.is_some() && !says_yes {
        return None;
    }
    let kernel_knows = files
        .line("/sys/hypervisor/type")
        .or_else(|| files.text("/proc/device-tree/hypervisor/compatible"))
        .map(|name| name.replace('\0', " ").trim().to_owned());
    if kernel_knows.is_some() {
        return kernel_knows;
    }
    let vendor = files.line("/sys/class/dmi/id/sys_vendor");
    let product = files.line("/sys/class/dmi/id/product_name");
    let board = match (vendor, product) {
        (Some(vendor), Some(product)) => Some(format!("{vendor} {product}")),
        (vendor, product) => vendor.or(product),
    };
    match board {
        Some(board) if says_yes || names_virtual_machine(&board) => Some(board),
        _ => says_yes.then(|| UNNAMED.to_owned()),
    }
}

/// What the hypervisor answers when a guest asks the CPU for it, like `KVMKVMKVM`. Call it in a guest only.
#[cfg(target_arch = "x86_64")]
pub(super) fn signature() -> Option<String> {
    /// Leaf of the signature, the same for all hypervisors.
    const LEAF: u32 = 0x4000_0000;
    // SAFETY: every x86-64 CPU has the instruction; it reads no memory and an unknown leaf gives other numbers only.
    // (Newer compilers call it safe already.)
    #[allow(unused_unsafe)]
    let answer = unsafe { core::arch::x86_64::__cpuid(LEAF) };
    let bytes = [answer.ebx, answer.ecx, answer.edx]
        .map(u32::to_le_bytes)
        .concat();
    readable(&bytes)
}

/// Other CPUs have no such question.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn signature() -> Option<String> {
    None
}

/// The text before the first zero; nothing when that is no plain text.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
fn readable(bytes: &[u8]) -> Option<String> {
    let text = bytes.split(|&byte| byte == 0).next()?;
    let plain = text.iter().all(|byte| (b' '..=b'~').contains(byte));
    let text = String::from_utf8_lossy(text).trim().to_owned();
    (plain && !text.is_empty()).then_some(text)
}

/// For machines whose CPU does not tell.
fn names_virtual_machine(board: &str) -> bool {
    ["QEMU", "KVM", "VMware", "VirtualBox", "Virtual Machine", "Xen"]
        .iter()
        .any(|name| board.contains(name))
}

#[cfg(test)]
mod tests {
    use super::super::files::plant;
    use super::*;

    fn found(files: &[(&str, &str)]) -> Option<String> {
        let dir = tempfile::tempdir().expect("tempdir");
        plant(dir.path(), files);
        hypervisor(&Files::at(dir.path()))
    }

    #[test]
    fn a_vendor_alone_makes_no_guest() {
        let vendor = ("/sys/class/dmi/id/sys_vendor", "Amazon EC2");
        let guest = ("/proc/cpuinfo", "flags : fpu hypervisor");
        assert_eq!(found(&[("/proc/cpuinfo", "flags : fpu sse"), vendor]), None);
        assert_eq!(found(&[guest, vendor]).as_deref(), Some("Amazon EC2"));
        assert_eq!(found(&[guest]).as_deref(), Some(UNNAMED));
        assert_eq!(
            found(&[guest, vendor, ("/sys/hypervisor/type", "xen")]).as_deref(),
            Some("xen")
        );
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn without_flags_the_board_decides() {
        let arm = ("/proc/cpuinfo", "CPU part\t: 0xd0c\n");
        assert_eq!(
            found(&[arm, ("/sys/class/dmi/id/sys_vendor", "Amazon EC2")]),
            None
        );
        assert_eq!(
            found(&[arm, ("/sys/class/dmi/id/sys_vendor", "QEMU")]).as_deref(),
            Some("QEMU")
        );
        let tree = ("/proc/device-tree/hypervisor/compatible", "linux,kvm\0xen,xen\0");
        assert_eq!(found(&[arm, tree]).as_deref(), Some("linux,kvm xen,xen"));
    }

    #[test]
    fn signatures_are_plain_text_or_nothing() {
        assert_eq!(readable(b"KVMKVMKVM\0\0\0").as_deref(), Some("KVMKVMKVM"));
        assert_eq!(readable(b"\0\0\0\0"), None);
        assert_eq!(readable(b"\xff\x01abc"), None);
    }
}
