//! The functions of a program and the calls that they make, read from objdump's listing (x86-64, AT&T syntax).

use crate::command;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::Command;

/// What a call leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A function by name.
    Named(String),
    /// Only known when the program runs.
    Unknown,
}

/// One call, or a jump out of the function.
#[derive(Debug, PartialEq, Eq)]
pub struct Call {
    /// Address of the instruction.
    pub address: u64,
    /// Where it goes.
    pub target: Target,
}

#[derive(Default)]
struct Function {
    first: u64,
    last: u64,
    calls: Vec<Call>,
    /// For each call, the register that it goes through.
    registers: Vec<Option<String>>,
    /// Functions that each register held somewhere.
    loads: HashMap<String, BTreeSet<String>>,
    /// Registers that each register was copied from somewhere.
    copies: HashMap<String, BTreeSet<String>>,
    /// For each call, the place on the stack that its target was kept in.
    kept_in: Vec<Option<String>>,
    /// Places on the stack that hold a target from a jump table somewhere. Compilers use a place for several things, but
    /// a jump out of a function does not go through its own stack, which is gone by then.
    tables: BTreeSet<String>,
}

impl Function {
    fn note_loads(&mut self, reader: &Reader) {
        if let Some((register, name)) = &reader.loaded {
            self.loads
                .entry(register.clone())
                .or_default()
                .insert(name.clone());
        }
        if let Some((register, source)) = &reader.copied {
            self.copies
                .entry(register.clone())
                .or_default()
                .insert(source.clone());
        }
    }

    /// Functions that `register` held somewhere; where it never got one itself, those of the registers copied to it.
    fn held(&self, register: &str) -> BTreeSet<String> {
        if let Some(names) = self.loads.get(register) {
            return names.clone();
        }
        let sources = self.copies.get(register).into_iter().flatten();
        sources
            .filter_map(|source| self.loads.get(source))
            .flatten()
            .cloned()
            .collect()
    }

    /// Blocks are not listed in the order in which they run, so a call may stand before the load of its register. When
    /// that register holds one function wherever it is loaded, the call means that one.
    fn resolve(&mut self) {
        let held: Vec<_> = self
            .registers
            .iter()
            .map(|register| register.as_ref().map(|r| self.held(r)).unwrap_or_default())
            .collect();
        for (call, names) in self.calls.iter_mut().zip(&held) {
            if let (Target::Unknown, 1, Some(name)) = (&call.target, names.len(), names.first()) {
                call.target = Target::Named(name.clone());
            }
        }
        // A target that a loop computes once, from a jump table, stays within the function.
        let from_table = |kept: &Option<String>| kept.as_ref().is_some_and(|at| self.tables.contains(at));
        let mut leaves = self.kept_in.iter().map(|kept| !from_table(kept));
        self.calls.retain(|_| leaves.next().unwrap_or(true));
    }
}

/// A program's functions by demangled name.
pub struct Binary {
    functions: BTreeMap<String, Function>,
}

impl Binary {
    /// Disassemble the program at `path`.
    pub fn read(path: &Path) -> Result<Binary> {
        let objdump =
            |arguments: &[&str]| command::capture(Command::new("objdump").args(arguments).arg(path));
        let listing = objdump(&["-d", "-C", "-w", "--no-show-raw-insn", "--section=.text"])?;
        // Identical functions share one address; the listing knows them by one name, which all others then mean.
        let symbols = listing
            .lines()
            .filter_map(header)
            .map(|(at, name)| (at, name.to_owned()))
            .collect();
        let slots = slots(&objdump(&["-R", "-C", "-w"])?, &symbols);
        Ok(Binary {
            functions: functions(&listing, &slots),
        })
    }

    /// Names of all functions.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    /// Whether there is a function of that name.
    pub fn has(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }

    /// Size of the function's code, to the start of its last instruction.
    pub fn size_bytes(&self, name: &str) -> u64 {
        self.functions.get(name).map_or(0, |f| f.last - f.first)
    }

    /// Its calls, jumps to other functions included.
    pub fn calls(&self, name: &str) -> &[Call] {
        self.functions.get(name).map_or(&[], |f| f.calls.as_slice())
    }
}

/// Functions by the address of the slot that the loader fills with their address, from `objdump -R`.
fn slots(relocations: &str, symbols: &HashMap<u64, String>) -> HashMap<u64, String> {
    let parse = |line: &str| {
        let mut words = line.split_whitespace();
        let slot = u64::from_str_radix(words.next()?, 16).ok()?;
        let _kind = words.next()?;
        let value = words.collect::<Vec<_>>().join(" ");
        let name = match value.strip_prefix("*ABS*+0x") {
            Some(address) => symbols.get(&u64::from_str_radix(address, 16).ok()?)?.clone(),
            None => value,
        };
        Some((slot, name))
    };
    relocations.lines().filter_map(parse).collect()
}

fn functions(listing: &str, slots: &HashMap<u64, String>) -> BTreeMap<String, Function> {
    let mut found = BTreeMap::<String, Function>::new();
    let mut reader = Reader::new(slots);
    let mut name = String::new();
    for line in listing.lines() {
        if let Some((_, header)) = header(line) {
            name = header.to_owned();
            reader = Reader::new(slots);
            continue;
        }
        let Some((address, instruction)) = instruction(line) else {
            continue;
        };
        let function = found.entry(name.clone()).or_default();
        if function.first == 0 {
            function.first = address;
        }
        function.last = address;
        if let Some(target) = reader.target(&name, instruction) {
            let register = instruction.split_once('*').map(|(_, r)| r.to_owned());
            function.calls.push(Call { address, target });
            function
                .kept_in
                .push(register.as_deref().and_then(|r| reader.kept_in(r)));
            function.registers.push(register.filter(|r| r.starts_with('%')));
        }
        function.note_loads(&reader);
        function.tables.extend(reader.stored.take());
    }
    found.values_mut().for_each(Function::resolve);
    found
}

/// `0000000000001234 <name>:` gives address and name.
fn header(line: &str) -> Option<(u64, &str)> {
    let (address, name) = line.strip_suffix(">:")?.split_once(" <")?;
    Some((u64::from_str_radix(address, 16).ok()?, name))
}

/// `  1234:\tcall   5678 <name>` gives address and instruction.
fn instruction(line: &str) -> Option<(u64, &str)> {
    let (address, rest) = line.trim_start().split_once(":\t")?;
    Some((u64::from_str_radix(address, 16).ok()?, rest.trim_end()))
}

/// Registers that a function restores before it leaves: a jump through one stays within it.
const CALLERS: [&str; 6] = ["%rbx", "%rbp", "%r12", "%r13", "%r14", "%r15"];

/// Reads one function, remembering which registers hold addresses of functions, and what came from jump tables.
struct Reader<'a> {
    slots: &'a HashMap<u64, String>,
    registers: HashMap<String, String>,
    /// What the last instruction loaded: register and function.
    loaded: Option<(String, String)>,
    /// What the last instruction copied: register and source register.
    copied: Option<(String, String)>,
    /// What registers hold that came from a jump table.
    held: HashMap<String, Held>,
    /// A place on the stack where the last instruction put a target from a jump table.
    stored: Option<String>,
}

/// What a register holds.
#[derive(Clone, PartialEq, Eq)]
enum Held {
    /// A target from a jump table.
    Table,
    /// What was in that place on the stack.
    Kept(String),
}

impl<'a> Reader<'a> {
    fn new(slots: &'a HashMap<u64, String>) -> Self {
        Reader {
            slots,
            registers: HashMap::new(),
            loaded: None,
            copied: None,
            held: HashMap::new(),
            stored: None,
        }
    }

    /// Where `instruction` goes when it leaves `function`.
    fn target(&mut self, function: &str, instruction: &str) -> Option<Target> {
        let instruction = instruction
            .trim_start_matches("notrack ")
            .trim_start_matches("bnd ");
        let (mnemonic, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
        let operands = operands.trim();
        (self.copied, self.stored) = (None, None);
        match mnemonic {
            "call" | "jmp" => match operands.strip_prefix('*') {
                Some(at) if mnemonic == "jmp" && self.held.get(at) == Some(&Held::Table) => None,
                Some(at) if mnemonic == "jmp" && CALLERS.contains(&at) => None,
                Some(pointer) => Some(self.through(pointer)),
                None => direct(function, operands, mnemonic == "call"),
            },
            // A conditional jump out of the function is a tail call too.
            _ if mnemonic.starts_with('j') => direct(function, operands, false),
            _ => {
                self.note_register(mnemonic, operands);
                self.note_table(mnemonic, operands);
                None
            }
        }
    }

    /// The place on the stack through which a jump to `operand` goes.
    fn kept_in(&self, operand: &str) -> Option<String> {
        match self.held.get(operand) {
            Some(Held::Kept(place)) => Some(place.clone()),
            _ => on_stack(operand).map(str::to_owned),
        }
    }

    /// A jump table is read by `movslq`, its base added; the target may then be moved about before it is jumped to.
    fn note_table(&mut self, mnemonic: &str, operands: &str) {
        let Some((source, target)) = operands.rsplit_once(',') else {
            return;
        };
        if mnemonic.starts_with("cmp") || mnemonic.starts_with("test") {
            return;
        }
        let is_table = |held: &HashMap<String, Held>, at: &str| held.get(at) == Some(&Held::Table);
        let held = match mnemonic {
            "movslq" if source.ends_with(')') => Some(Held::Table),
            "add" if is_table(&self.held, source) || is_table(&self.held, target) => Some(Held::Table),
            "mov" => match on_stack(source) {
                Some(place) => Some(Held::Kept(place.to_owned())),
                None => self.held.get(source).cloned(),
            },
            _ => None,
        };
        if let Some(place) = on_stack(target) {
            self.stored = (held == Some(Held::Table)).then(|| place.to_owned());
        } else if target.starts_with('%') {
            match held {
                Some(held) => self.held.insert(target.to_owned(), held),
                None => self.held.remove(target),
            };
        }
    }

    fn through(&self, pointer: &str) -> Target {
        let name = match pointer.split_once('#') {
            Some((_, comment)) => slot_address(comment).and_then(|a| self.slots.get(&a)),
            None => self.registers.get(pointer.trim()),
        };
        name.map_or(Target::Unknown, |n| Target::Named(n.clone()))
    }

    /// A load of a slot makes the register hold a function; any other write to it ends that.
    fn note_register(&mut self, mnemonic: &str, operands: &str) {
        let (plain, comment) = operands.split_once('#').unwrap_or((operands, ""));
        let Some(register) = plain.trim().rsplit(',').next().filter(|r| r.starts_with('%')) else {
            return;
        };
        let source = plain.split(',').next().unwrap_or_default().trim();
        let loaded = match mnemonic {
            "mov" => slot_address(comment)
                .and_then(|a| self.slots.get(&a))
                .or_else(|| self.registers.get(source)),
            _ => None,
        };
        let loaded = loaded.cloned();
        if mnemonic == "mov" && source.starts_with('%') {
            self.copied = Some((register.to_owned(), source.to_owned()));
        }
        self.loaded = loaded.clone().map(|name| (register.to_owned(), name));
        match loaded {
            Some(name) => self.registers.insert(register.to_owned(), name),
            None if mnemonic.starts_with("cmp") || mnemonic.starts_with("test") || mnemonic == "push" => None,
            None => self.registers.remove(register),
        };
    }
}

/// `5678 <name+0x12>` as a call or jump target; a jump inside the function is none.
fn direct(function: &str, operands: &str, is_call: bool) -> Option<Target> {
    let Some((_, name)) = operands.strip_suffix('>').and_then(|o| o.split_once(" <")) else {
        return is_call.then_some(Target::Unknown);
    };
    let whole = name.rsplit_once("+0x").map_or(name, |(n, _)| n);
    (is_call || whole != function).then(|| Target::Named(whole.to_owned()))
}

/// A place on the stack by its name, such as `0x240(%rsp)`.
fn on_stack(operand: &str) -> Option<&str> {
    operand.ends_with("(%rsp)").then_some(operand)
}

/// ` 4ff8 <symbol>` after the `#` of a rip-relative operand.
fn slot_address(comment: &str) -> Option<u64> {
    u64::from_str_radix(comment.split_whitespace().next()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_from_a_listing() {
        let slots = HashMap::from([
            (0x4ff8, "send@GLIBC_2.2.5".to_owned()),
            (0x5000, "memcpy".to_owned()),
        ]);
        let listing = "\
0000000000001000 <a::hot_x::<b::C>>:
    1000:\tmov    0x3fe0(%rip),%r14        # 5000 <x>
    1004:\tcall   *0x3fd0(%rip)        # 4ff8 <x>
    100a:\tjne    1000 <a::hot_x::<b::C>>
    100c:\tcall   *%r14
    100d:\tmov    %r14,%rbx
    100f:\tmov    %rax,%r14
    1012:\tcall   *%r13
    1014:\tcall   *%rbx
    1015:\tcall   *0x18(%rax)
    1018:\tmovslq (%rdx,%rcx,4),%rcx
    101c:\tadd    %rdx,%rcx
    101f:\tjmp    *%rcx
    1021:\tjmp    2000 <a::other>
    1023:\tcall   *%rbp
    1025:\tmov    %r14,%rbp
    1027:\tmov    0x10(%rsp),%rbp
";
        let functions = functions(listing, &slots);
        let named = |n: &str| Target::Named(n.to_owned());
        let targets: Vec<_> = functions["a::hot_x::<b::C>"]
            .calls
            .iter()
            .map(|c| c.target.clone())
            .collect();
        let expected = [
            named("send@GLIBC_2.2.5"),
            named("memcpy"),
            Target::Unknown,
            named("memcpy"),
            Target::Unknown,
            named("a::other"),
            named("memcpy"),
        ];
        assert_eq!(targets, expected);
    }

    /// Targets of calls that are left of a function of these lines.
    fn left(lines: &[&str]) -> usize {
        let lines: Vec<_> = (0..)
            .zip(lines)
            .map(|(at, line)| format!("{at:x}:\t{line}"))
            .collect();
        let listing = format!("0000000000000000 <f>:\n{}\n", lines.join("\n"));
        functions(&listing, &HashMap::new())["f"].calls.len()
    }

    #[test]
    fn a_target_from_a_jump_table_is_known_wherever_it_was_kept() {
        let table = ["movslq (%rdx,%rcx,4),%rcx", "add    %rdx,%rcx"];
        let through = |rest: &[&str]| left(&[&table[..], rest].concat());
        assert_eq!(through(&["nop", "nop", "nop", "nop", "nop", "jmp    *%rcx"]), 0);
        assert_eq!(through(&["mov    %rcx,0x40(%rsp)", "jmp    *0x40(%rsp)"]), 0);
        assert_eq!(
            through(&["mov    %rcx,0x40(%rsp)", "mov    0x40(%rsp),%rax", "jmp    *%rax"]),
            0
        );
        assert_eq!(left(&["mov    0x40(%rsp),%r13", "jmp    *%r13"]), 0);
        assert_eq!(left(&["mov    0x40(%rdi),%r13", "call   *%r13"]), 1);
        // What came from elsewhere is none.
        assert_eq!(through(&["mov    0x18(%rdi),%rcx", "jmp    *%rcx"]), 1);
        assert_eq!(through(&["jmp    *0x40(%rsp)"]), 1);
        assert_eq!(through(&["call   *%rcx"]), 1);
        assert_eq!(through(&["mov    %rax,0x40(%rsp)", "jmp    *0x40(%rsp)"]), 1);
    }
}
