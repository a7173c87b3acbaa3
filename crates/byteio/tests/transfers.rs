//! Our client against our service: every way, both directions, plain and inside TLS, whole and resumed.

mod common;

use common::{Running, data, get};
use std::sync::atomic::{AtomicU64, Ordering};
use wirespeed_byteio::client::{Direction, Target, TransferOptions, Way, transfer};
use wirespeed_byteio::digest::DigestKind;
use wirespeed_byteio::soap::Mechanism;
use wirespeed_control::StopFlag;
use wirespeed_control::auth::http::SecureServer;
use wirespeed_control::auth::keyfile::KeyFile;
use wirespeed_schema::byteio::Transfer;

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
                    overwrite: false,
                },
                _ => Target::File {
                    path: out.clone(),
                    overwrite: false,
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
            overwrite: false,
        };
        options.digest = Some(DigestKind::Crc32c);
        assert!(go(&options).verified);
        assert!(std::fs::read(out).unwrap() == content, "{}", way.name());
    }
    let mut options = get(service.url("/f"), Way::Http);
    options.client.url.secure = true;
    options.client.identity = Some(stranger.identity().clone());
    assert!(transfer(&options, &StopFlag::new(), &|_| ()).is_err());
    options.client.identity = None;
    assert!(transfer(&options, &StopFlag::new(), &|_| ()).is_err());
    options.client.url.secure = false;
    assert!(transfer(&options, &StopFlag::new(), &|_| ()).is_err());
}

#[test]
fn empty_resources_and_single_bytes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("none"), b"").unwrap();
    std::fs::write(folder.path().join("one"), b"x").unwrap();
    let service = Running::start(folder.path(), false, None);
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
        overwrite: false,
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
        again.usage && again.cause.contains("is there already"),
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
        let mut options = get(service.url("/f"), Way::Http);
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
        match digest {
            None => assert_eq!(said, "the resource changed while it was read"),
            Some(_) => assert_eq!(
                (seen.wrong_blocks_count, said.contains("block 0")),
                (1, true),
                "{said}"
            ),
        }
        assert!(!seen.verified);
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
            overwrite: true,
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
            overwrite,
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
            overwrite: true,
        };
        go(&options);
        assert!(std::fs::read(&path).unwrap() == data(SIZE));
        assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 1);
    }
}
