//! Our client against our service: every way, both directions, plain and inside TLS, whole and resumed.

mod common;

use common::{Running, data, get};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;
use wirespeed_byteio::client::{Claim, Direction, Target, TransferOptions, Way, transfer};
use wirespeed_byteio::digest::DigestKind;
use wirespeed_byteio::soap::Mechanism;
use wirespeed_control::StopFlag;
use wirespeed_control::auth::http::SecureServer;
use wirespeed_control::auth::keyfile::KeyFile;
use wirespeed_schema::byteio::Transfer;
use wirespeed_schema::message::FailureClass;

const SIZE: usize = 1_234_567;

fn go(options: &TransferOptions) -> Transfer {
    let moved = AtomicU64::new(0);
    let result = transfer(options, &StopFlag::new(), &|step| {
        moved.fetch_add(step.bytes, Ordering::Relaxed);
    });
    let result = result.unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(result.transfer.error, None, "{:?}", result.transfer);
    assert_eq!(moved.load(Ordering::Relaxed), result.total_bytes);
    result.transfer
}

#[test]
fn every_way_gets_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let content = data(SIZE);
    std::fs::write(folder.path().join("f"), &content).unwrap();
    let service = Running::start(folder.path(), false, None);
    for way in Way::ALL {
        for (number, digest) in [None, Some(DigestKind::Crc32c), Some(DigestKind::Blake3)]
            .into_iter()
            .enumerate()
        {
            let out = folder.path().join(format!("out-{}-{number}", way.name()));
            let target = match number {
                1 => Target::Map {
                    path: out.clone(),
                    claim: Claim::New,
                },
                _ => Target::File {
                    path: out.clone(),
                    claim: Claim::New,
                },
            };
            let mut options = get(service.url("/f"), way);
            (options.target, options.digest) = (target, digest);
            let seen = go(&options);
            assert!(std::fs::read(&out).unwrap() == content, "{}", way.name());
            assert_eq!(seen.verified, digest.is_some());
            assert_eq!(seen.payload_bytes, SIZE as u64);
            assert_eq!(
                seen.connections.iter().map(|c| c.payload_bytes).sum::<u64>(),
                SIZE as u64
            );
            // A connection that ended with something outstanding has no counters of the service.
            let told = seen.connections.iter().filter_map(|c| Some((c, c.far.as_ref()?)));
            assert!(told.clone().count() > 0, "no counters of the service: {seen:?}");
            for (connection, far) in told {
                assert!(
                    far.sent_bytes >= connection.payload_bytes,
                    "{} {} {connection:?}",
                    way.name(),
                    far.sent_bytes
                );
            }
        }
    }
}

#[test]
fn every_way_puts_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let content = data(SIZE);
    let source = folder.path().join("source");
    std::fs::write(&source, &content).unwrap();
    let served = folder.path().join("served");
    std::fs::create_dir(&served).unwrap();
    let service = Running::start(&served, true, None);
    for way in Way::ALL {
        let name = format!("/{}", way.name());
        std::fs::write(served.join(way.name()), vec![1; SIZE + 10]).unwrap();
        let mut options = get(service.url(&name), way);
        options.client.direction = Direction::Put;
        options.source = Some(source.clone());
        options.digest = Some(DigestKind::Crc32c);
        let seen = go(&options);
        assert!(seen.verified, "{}", way.name());
        assert!(
            std::fs::read(served.join(way.name())).unwrap() == content,
            "{}",
            way.name()
        );
        let fresh = format!("/new-{}", way.name());
        options.client.url = service.url(&fresh);
        go(&options);
        assert!(
            std::fs::read(served.join(&fresh[1..])).unwrap() == content,
            "{}",
            way.name()
        );
    }
    let readonly = Running::start(&served, false, None);
    for way in Way::ALL {
        let mut options = get(readonly.url("/mtom"), way);
        options.client.direction = Direction::Put;
        options.source = Some(source.clone());
        let error = transfer(&options, &StopFlag::new(), &|_| ()).unwrap_err();
        let said = error.cause.contains("not writable");
        assert!(said, "{}: {error:?}", way.name());
    }
}

#[test]
fn inside_tls_only_whoever_has_the_key_gets_anything() {
    let folder = tempfile::tempdir().unwrap();
    let content = data(SIZE);
    let file = folder.path().join("f");
    std::fs::write(&file, &content).unwrap();
    let key = KeyFile::load_or_make(&folder.path().join("key")).unwrap();
    let stranger = KeyFile::load_or_make(&folder.path().join("other-key")).unwrap();
    let service = Running::start(&file, false, Some(SecureServer::new(&key).unwrap()));
    for way in Way::ALL {
        let out = folder.path().join(way.name());
        let mut options = get(service.url("/f"), way);
        options.client.url.secure = true;
        options.client.identity = Some(key.identity().clone());
        options.target = Target::File {
            path: out.clone(),
            claim: Claim::New,
        };
        options.digest = Some(DigestKind::Crc32c);
        assert!(go(&options).verified);
        assert!(std::fs::read(out).unwrap() == content, "{}", way.name());
    }
    let mut options = get(service.url("/f"), Way::Http);
    options.client.url.secure = true;
    options.client.identity = Some(stranger.identity().clone());
    let refused = transfer(&options, &StopFlag::new(), &|_| ()).unwrap_err();
    assert_eq!(refused.class, FailureClass::Refused, "{refused:?}");
    options.client.identity = None;
    assert!(transfer(&options, &StopFlag::new(), &|_| ()).is_err());
    options.client.url.secure = false;
    let garbled = transfer(&options, &StopFlag::new(), &|_| ()).unwrap_err();
    assert_eq!(garbled.class, FailureClass::Failed, "{garbled:?}");
}

#[test]
fn empty_resources_and_single_bytes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("none"), b"").unwrap();
    std::fs::write(folder.path().join("one"), b"x").unwrap();
    let service = Running::start(folder.path(), false, None);
    let out = folder.path().join("out");
    let (path, claim) = (out.clone(), Claim::Replace);
    for target in [
        Target::File {
            path: path.clone(),
            claim,
        },
        Target::Map { path, claim },
    ] {
        let mut options = get(service.url("/none"), Way::Http);
        options.target = target;
        assert_eq!(go(&options).payload_bytes, 0);
        assert_eq!(std::fs::read(&out).unwrap(), b"");
    }
    for way in Way::ALL {
        assert_eq!(go(&get(service.url("/none"), way)).payload_bytes, 0);
        assert_eq!(go(&get(service.url("/one"), way)).payload_bytes, 1);
    }
}

#[test]
fn a_stopped_transfer_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let content = data(SIZE);
    std::fs::write(folder.path().join("f"), &content).unwrap();
    let out = folder.path().join("out");
    let service = Running::start(folder.path(), false, None);
    let mut options = get(service.url("/f"), Way::Http);
    options.target = Target::File {
        path: out.clone(),
        claim: Claim::New,
    };
    options.digest = Some(DigestKind::Blake3);
    let stop = StopFlag::new();
    let moved = AtomicU64::new(0);
    let broken = transfer(&options, &stop, &|step| {
        if moved.fetch_add(step.bytes, Ordering::Relaxed) + step.bytes > 400_000 {
            stop.request();
        }
    });
    let broken = broken.unwrap().transfer;
    assert_eq!(broken.error.as_deref(), Some("stopped"));
    assert!(broken.payload_bytes >= 400_000 && broken.payload_bytes < SIZE as u64);
    let rest = go(&options);
    assert_eq!(rest.resumed_bytes, broken.payload_bytes);
    assert_eq!(rest.payload_bytes + rest.resumed_bytes, SIZE as u64);
    assert!(rest.verified);
    assert!(std::fs::read(&out).unwrap() == content);
    let again = transfer(&options, &StopFlag::new(), &|_| ()).unwrap_err();
    assert!(
        again.class == FailureClass::Usage && again.cause.contains("is there already"),
        "{again:?}"
    );
}

#[test]
fn a_resource_that_changes_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f");
    std::fs::write(&file, data(SIZE)).unwrap();
    let service = Running::start(folder.path(), false, None);
    let once = AtomicU64::new(0);
    for digest in [None, Some(DigestKind::Crc32c)] {
        once.store(0, Ordering::Relaxed);
        // Answers of the bulk stream do not say of which version they are.
        let way = if digest.is_some() { Way::Bulk } else { Way::Http };
        let mut options = get(service.url("/f"), way);
        (options.digest, options.threads, options.depth) = (digest, 1, 1);
        let seen = transfer(&options, &StopFlag::new(), &|step| {
            if step.bytes > 0 && once.fetch_add(1, Ordering::Relaxed) == 3 {
                let mut other = data(SIZE);
                other[5] ^= 1;
                std::fs::write(&file, other).unwrap();
            }
        });
        let seen = seen.unwrap().transfer;
        let said = seen.error.unwrap_or_default();
        assert_eq!(said, "the resource changed while it was read");
        // What differs is another version, and no wrong data.
        assert_eq!((seen.wrong_blocks_count, seen.verified), (0, false));
        std::fs::write(&file, data(SIZE)).unwrap();
    }
}

/// Shrinking in the middle of a transfer: the rest can never come, whichever way.
#[test]
fn a_resource_that_shrinks_ends_the_transfer_and_not_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f");
    let service = Running::start(folder.path(), false, None);
    for way in Way::ALL {
        std::fs::write(&file, data(SIZE)).unwrap();
        let once = AtomicU64::new(0);
        let mut options = get(service.url("/f"), way);
        options.threads = 1;
        let seen = transfer(&options, &StopFlag::new(), &|step| {
            if step.bytes > 0 && once.fetch_add(1, Ordering::Relaxed) == 3 {
                std::fs::File::options()
                    .write(true)
                    .open(&file)
                    .unwrap()
                    .set_len(500_000)
                    .unwrap();
            }
        });
        let seen = seen.unwrap().transfer;
        assert!(
            seen.error.is_some() && seen.payload_bytes <= 500_000,
            "{}: {seen:?}",
            way.name()
        );
    }
    std::fs::write(&file, data(SIZE)).unwrap();
    assert_eq!(go(&get(service.url("/f"), Way::Http)).payload_bytes, SIZE as u64);
}

/// The sender is asked for a congestion control by whoever receives.
#[test]
fn the_service_sends_with_the_control_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f"), data(SIZE)).unwrap();
    let service = Running::start(folder.path(), false, None);
    for way in [Way::Http, Way::Bulk, Way::Soap(Mechanism::Mtom)] {
        let mut options = get(service.url("/f"), way);
        let controls = wirespeed_byteio::client::congestion_controls(&options.client);
        assert!(!controls.usual.is_empty(), "{controls:?}");
        for name in controls.permitted {
            options.client.congestion = Some(name.clone());
            let seen = go(&options);
            // A connection that a block was taken from ends without a word on it.
            let far: Vec<_> = seen.connections.iter().filter_map(|c| c.far.as_ref()).collect();
            assert!(!far.is_empty(), "{}", way.name());
            assert!(
                far.iter().all(|info| info.congestion == name),
                "{}: {far:?}",
                way.name()
            );
        }
    }
}

/// A stream is opened, read and written in blocks, and given back.
#[test]
fn streams_are_opened_used_and_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let content = data(SIZE);
    std::fs::write(folder.path().join("f"), &content).unwrap();
    let limits = wirespeed_byteio::service::Limits {
        streams_max: 1,
        ..Default::default()
    };
    let service = Running::with(folder.path(), true, None, limits);
    let out = folder.path().join("out");
    // More transfers than streams may be open: each gives its own back.
    for mechanism in [Mechanism::Simple, Mechanism::Mtom, Mechanism::Dime] {
        let mut options = get(service.url("/f"), Way::Soap(mechanism));
        options.client.stream = true;
        options.target = Target::File {
            path: out.clone(),
            claim: Claim::Replace,
        };
        go(&options);
        assert!(std::fs::read(&out).unwrap() == content, "{mechanism:?}");
        options.client.url = service.url("/copy");
        (options.client.direction, options.target) = (Direction::Put, Target::Discard);
        options.source = Some(folder.path().join("f"));
        std::fs::write(folder.path().join("copy"), "something longer was here").unwrap();
        go(&options);
        assert!(
            std::fs::read(folder.path().join("copy")).unwrap() == content,
            "{mechanism:?}"
        );
    }
}

/// What the service has of a put that fails is what it had before; a source that shrinks under its sender is named.
#[test]
fn a_put_whose_source_shrinks_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    let served = folder.path().join("served");
    std::fs::create_dir(&served).unwrap();
    let service = Running::start(&served, true, None);
    for way in Way::ALL {
        for (name, before) in [("there", Some("what was there")), ("new", None)] {
            std::fs::write(&source, data(SIZE)).unwrap();
            let target = served.join(name);
            let _ = std::fs::remove_file(&target);
            if let Some(before) = before {
                std::fs::write(&target, before).unwrap();
            }
            let mut options = get(service.url(&format!("/{name}")), way);
            (options.threads, options.depth) = (1, 1);
            options.client.direction = Direction::Put;
            options.source = Some(source.clone());
            let once = AtomicU64::new(0);
            let seen = transfer(&options, &StopFlag::new(), &|step| {
                if step.bytes > 0 && once.fetch_add(1, Ordering::Relaxed) == 3 {
                    let file = std::fs::File::options().write(true).open(&source).unwrap();
                    file.set_len(500_000).unwrap();
                }
            });
            let error = seen.unwrap().transfer.error.unwrap_or_default();
            assert!(error.contains("became shorter"), "{}: {error}", way.name());
            assert_eq!(
                std::fs::read_to_string(&target).ok().as_deref(),
                before,
                "{}",
                way.name()
            );
            let others = std::fs::read_dir(&served).unwrap().count();
            assert_eq!(others, usize::from(before.is_some()), "{}", way.name());
            let _ = std::fs::remove_file(&target);
        }
    }
}

/// A service of `/f`, the folder that it serves, one for what is fetched, and the content.
fn rig() -> (TempDir, TempDir, Vec<u8>, Running) {
    let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let content = data(SIZE);
    std::fs::write(folder.path().join("f"), &content).unwrap();
    let service = Running::start(folder.path(), false, None);
    (folder, out, content, service)
}

/// A get of `/f` into `out` that is stopped when a third is there.
fn broken_off(options: &TransferOptions) {
    let stop = StopFlag::new();
    let moved = AtomicU64::new(0);
    let broken = transfer(options, &stop, &|step| {
        if moved.fetch_add(step.bytes, Ordering::Relaxed) + step.bytes > 400_000 {
            stop.request();
        }
    });
    assert_eq!(broken.unwrap().transfer.error.as_deref(), Some("stopped"));
}

/// Everything in a folder, by name.
fn all_of(folder: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let read = |entry: std::fs::DirEntry| (entry.file_name(), std::fs::read(entry.path()).unwrap());
    entries.map(read).collect()
}

#[test]
fn a_refused_transfer_changes_nothing_and_the_file_is_as_long_as_the_resource() {
    let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let content = data(SIZE);
    std::fs::write(folder.path().join("f"), &content).unwrap();
    std::fs::write(folder.path().join("longer"), data(2 * SIZE)).unwrap();
    let service = Running::start(folder.path(), false, None);
    let path = out.path().join("out");
    for map in [false, true] {
        let mut options = get(service.url("/f"), Way::Http);
        let (to, claim) = (path.clone(), Claim::New);
        options.target = match map {
            false => Target::File { path: to, claim },
            true => Target::Map { path: to, claim },
        };
        broken_off(&options);
        let left = all_of(out.path());
        let mut longer = options.clone();
        longer.client.url = service.url("/longer");
        let (mut shorter, mut blocks) = (options.clone(), options.clone());
        (shorter.size_bytes, blocks.block_bytes) = (Some(500_000), 50_000);
        for other in [longer, shorter, blocks] {
            let refused = transfer(&other, &StopFlag::new(), &|_| ()).unwrap_err();
            assert!(
                refused.class == FailureClass::Usage && refused.cause.contains("of another transfer"),
                "{refused:?}"
            );
            assert!(all_of(out.path()) == left, "a refused transfer left traces");
        }
        // Longer than it should be, by whatever accident.
        let part = out.path().join("out.wirespeed-part");
        std::fs::File::options()
            .write(true)
            .open(&part)
            .unwrap()
            .set_len(2 * SIZE as u64)
            .unwrap();
        go(&options);
        assert!(all_of(out.path()) == BTreeMap::from([("out".into(), content.clone())]));
        std::fs::remove_file(&path).unwrap();
    }
}

/// What befalls a part between two transfers.
type Harm = fn(&Path);

#[test]
fn blocks_that_are_not_there_any_more_are_fetched_again() {
    let (_folder, out, content, service) = rig();
    let path = out.path().join("out");
    let part = out.path().join("out.wirespeed-part");
    let harms: [(&str, Harm); 4] = [
        ("zeros", |part| std::fs::write(part, vec![0; SIZE]).unwrap()),
        ("cut", |part| std::fs::write(part, b"").unwrap()),
        ("gone", |part| std::fs::remove_file(part).unwrap()),
        ("a byte", |part| {
            let mut bytes = std::fs::read(part).unwrap();
            let first = bytes.iter().position(|byte| *byte != 0).unwrap();
            bytes[first] ^= 1;
            std::fs::write(part, bytes).unwrap();
        }),
    ];
    for (name, harm) in harms {
        for digest in [Some(DigestKind::Crc32c), Some(DigestKind::Blake3), None] {
            // Without digests nobody can tell, but of a part that is too short.
            if digest.is_none() && !matches!(name, "cut" | "gone") {
                continue;
            }
            let mut options = get(service.url("/f"), Way::Bulk);
            options.digest = digest;
            options.target = Target::File {
                path: path.clone(),
                claim: Claim::New,
            };
            broken_off(&options);
            harm(&part);
            go(&options);
            assert!(std::fs::read(&path).unwrap() == content, "{name} {digest:?}");
            std::fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn one_transfer_writes_a_file_at_a_time() {
    let (_folder, out, content, service) = rig();
    let path = out.path().join("out");
    for claim in [Claim::New, Claim::Replace, Claim::Measure] {
        let mut options = get(service.url("/f"), Way::Http);
        options.target = Target::File {
            path: path.clone(),
            claim,
        };
        let tried = AtomicU64::new(0);
        let seen = transfer(&options, &StopFlag::new(), &|step| {
            if step.bytes > 0 && tried.fetch_add(1, Ordering::Relaxed) == 2 {
                for second in [Claim::New, Claim::Replace, Claim::Measure] {
                    let mut other = options.clone();
                    other.target = Target::File {
                        path: path.clone(),
                        claim: second,
                    };
                    let refused = transfer(&other, &StopFlag::new(), &|_| ()).unwrap_err();
                    let said = &refused.cause;
                    assert!(
                        said.contains("another transfer writes") || said.contains("is there already"),
                        "{said}"
                    );
                }
            }
        });
        assert_eq!(seen.unwrap().transfer.error, None);
        assert!(all_of(out.path()) == BTreeMap::from([("out".into(), content.clone())]));
        if claim == Claim::New {
            std::fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn what_is_no_regular_file_stays_what_it_is() {
    let (_folder, out, _, service) = rig();
    let place = |name: &str| out.path().join(name);
    std::fs::create_dir(place("folder")).unwrap();
    std::os::unix::fs::symlink("nowhere", place("dangling")).unwrap();
    std::os::unix::fs::symlink("/dev/null", place("device")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place("socket")).unwrap();
    let names = || {
        let entries = std::fs::read_dir(out.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    for name in ["folder", "dangling", "device", "socket"] {
        for claim in [Claim::New, Claim::Replace, Claim::Measure] {
            let mut options = get(service.url("/f"), Way::Http);
            options.target = Target::File {
                path: place(name),
                claim,
            };
            let refused = transfer(&options, &StopFlag::new(), &|_| ()).unwrap_err();
            assert!(
                refused.class == FailureClass::Usage && refused.cause.contains("is no regular file"),
                "{name}: {refused:?}"
            );
            assert_eq!(names(), before, "{name}");
        }
    }
}

#[test]
fn a_file_that_is_replaced_keeps_its_mode_and_its_links() {
    let (_folder, out, content, service) = rig();
    let (path, link) = (out.path().join("out"), out.path().join("link"));
    std::os::unix::fs::symlink("out", &link).unwrap();
    for (number, mode) in [0o600, 0o640, 0o755].into_iter().enumerate() {
        std::fs::write(&path, "what was there").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let mut options = get(service.url("/f"), Way::Http);
        let to = if number == 1 { &link } else { &path };
        options.target = Target::File {
            path: to.clone(),
            claim: Claim::Replace,
        };
        transfer(&options, &StopFlag::new(), &|step| {
            // Nor may others read it meanwhile.
            if step.bytes > 0
                && let Ok(part) = std::fs::metadata(out.path().join("out.wirespeed-part"))
            {
                assert_eq!(part.permissions().mode() & 0o777 & !mode & !0o600, 0);
            }
        })
        .unwrap();
        assert!(std::fs::read(&path).unwrap() == content);
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            mode
        );
        assert!(link.is_symlink());
    }
}

#[test]
fn a_measurement_that_breaks_off_leaves_nothing_and_the_file_of_before() {
    let (folder, out, _, service) = rig();
    let path = out.path().join("out");
    let mut options = get(service.url("/f"), Way::Http);
    options.target = Target::File {
        path: path.clone(),
        claim: Claim::Measure,
    };
    broken_off(&options);
    assert!(all_of(out.path()).is_empty());
    std::fs::write(&path, "what was there").unwrap();
    broken_off(&options);
    assert!(all_of(out.path()) == BTreeMap::from([("out".into(), b"what was there".to_vec())]));
    // The data came, and are not what they should be.
    let once = AtomicU64::new(0);
    (options.threads, options.depth) = (1, 1);
    let seen = transfer(&options, &StopFlag::new(), &|step| {
        if step.bytes > 0 && once.fetch_add(1, Ordering::Relaxed) == 12 {
            std::fs::write(folder.path().join("f"), vec![1; SIZE]).unwrap();
        }
    });
    assert!(seen.unwrap().transfer.error.is_some());
    assert!(all_of(out.path()) == BTreeMap::from([("out".into(), b"what was there".to_vec())]));
}

/// Looking at what is there already ends at once too, and takes nothing of it away.
#[test]
fn a_resumed_transfer_that_is_stopped_at_once_keeps_what_was_there() {
    let (_folder, out, _, service) = rig();
    let mut options = get(service.url("/f"), Way::Http);
    options.digest = Some(DigestKind::Crc32c);
    options.target = Target::File {
        path: out.path().join("out"),
        claim: Claim::New,
    };
    broken_off(&options);
    let left = all_of(out.path());
    let stop = StopFlag::new();
    stop.request();
    assert!(transfer(&options, &stop, &|_| ()).is_err());
    assert!(all_of(out.path()) == left);
    go(&options);
}

#[test]
fn so_many_bytes_and_no_more_whichever_way_they_go() {
    let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let content = data(SIZE);
    std::fs::write(folder.path().join("f"), &content).unwrap();
    let service = Running::start(folder.path(), true, None);
    for way in Way::ALL {
        for size in [1, 250_001] {
            let (path, name) = (out.path().join("out"), format!("/put-{}", way.name()));
            let mut options = get(service.url("/f"), way);
            options.size_bytes = Some(size as u64);
            options.target = Target::File {
                path: path.clone(),
                claim: Claim::Replace,
            };
            go(&options);
            assert!(
                std::fs::read(&path).unwrap() == content[..size],
                "{} {size}",
                way.name()
            );
            let mut options = get(service.url(&name), way);
            options.size_bytes = Some(size as u64);
            (options.client.direction, options.source) = (Direction::Put, Some(folder.path().join("f")));
            options.digest = Some(DigestKind::Crc32c);
            assert!(go(&options).verified);
            let sent = std::fs::read(folder.path().join(&name[1..])).unwrap();
            assert!(sent == content[..size], "{} {size}", way.name());
            options.size_bytes = Some(SIZE as u64 + 1);
            let refused = transfer(&options, &StopFlag::new(), &|_| ()).unwrap_err();
            assert!(
                refused.class == FailureClass::Usage && refused.cause.contains("fewer than"),
                "{refused:?}"
            );
        }
    }
}

/// A get that fails has no file under the name that was asked for, and none at all where nothing came.
#[test]
fn a_get_that_fails_has_no_file_of_that_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f");
    let service = Running::start(folder.path(), false, None);
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("out");
    for overwrite in [false, true] {
        let _ = std::fs::remove_file(&path);
        if overwrite {
            std::fs::write(&path, "what was there").unwrap();
        }
        std::fs::write(&file, data(SIZE)).unwrap();
        let mut options = get(service.url("/f"), Way::Http);
        (options.threads, options.depth) = (1, 1);
        options.target = Target::File {
            path: path.clone(),
            claim: if overwrite { Claim::Replace } else { Claim::New },
        };
        let once = AtomicU64::new(0);
        let seen = transfer(&options, &StopFlag::new(), &|step| {
            if step.bytes > 0 && once.fetch_add(1, Ordering::Relaxed) == 3 {
                std::fs::File::options()
                    .write(true)
                    .open(&file)
                    .unwrap()
                    .set_len(500_000)
                    .unwrap();
            }
        });
        assert!(seen.unwrap().transfer.error.is_some());
        let found = std::fs::read_to_string(&path).ok();
        assert_eq!(found.as_deref(), overwrite.then_some("what was there"));
        std::fs::write(&file, data(SIZE)).unwrap();
        options.target = Target::File {
            path: path.clone(),
            claim: Claim::Replace,
        };
        go(&options);
        assert!(std::fs::read(&path).unwrap() == data(SIZE));
        assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_put_into_a_folder_that_is_not_there_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    std::fs::write(&source, b"x").unwrap();
    let service = Running::start(folder.path(), true, None);
    for way in Way::ALL {
        let mut options = get(service.url("/none/new"), way);
        options.client.direction = Direction::Put;
        options.source = Some(source.clone());
        let refused = transfer(&options, &StopFlag::new(), &|_| ()).unwrap_err();
        assert!(
            refused.cause.contains("the folder that it goes into"),
            "{refused:?}"
        );
        assert!(refused.remedy.starts_with("make its folder"), "{refused:?}");
        options.client.url = service.url("/.wirespeed-x");
        let hidden = transfer(&options, &StopFlag::new(), &|_| ()).unwrap_err();
        assert!(hidden.cause.contains("no such resource"), "{hidden:?}");
    }
}
