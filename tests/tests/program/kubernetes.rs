//! The manifests of examples/kubernetes: they are what the schemas of Kubernetes ask for, they ask for no privilege, and what
//! they start starts. No cluster is needed, and none is touched.

use crate::{SOON, Server, home, turn};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use wirespeed_tests::deadline::PATIENCE;
use wirespeed_tests::lab::{Lab, Side};
use wirespeed_tests::running::Running;
use wirespeed_tests::skip;

const FILES: [&str; 2] = ["daemons.yaml", "mesh.yaml"];

/// All documents of a file of YAML, as JSON.
const AS_JSON: &str =
    "import json, sys, yaml; json.dump(list(yaml.safe_load_all(open(sys.argv[1]))), sys.stdout)";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn manifest(file: &str) -> PathBuf {
    root().join("examples/kubernetes").join(file)
}

/// The programs of the validator's folder, as tests/lab/kubernetes.sh brings it; `None`, said, where it is not there.
fn tools() -> Option<PathBuf> {
    let folders = std::fs::read_dir(root().join("target/lab")).ok();
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("kubernetes-validate-") && path.join("ready").is_file()
    };
    let mut found = folders.into_iter().flatten().flatten().map(|entry| entry.path());
    let found = found.find(is_ours);
    if found.is_none() {
        skip("kubernetes-validate is not installed: `bash tests/lab/kubernetes.sh` says why");
    }
    Some(found?.join("bin"))
}

fn validate(tools: &Path, file: &Path) -> Output {
    let mut validator = Command::new(tools.join("kubernetes-validate"));
    validator.arg("--strict").arg(file).output().unwrap()
}

fn read(tools: &Path, file: &str) -> Vec<Value> {
    let mut python = Command::new(tools.join("python3"));
    let output = python.args(["-c", AS_JSON]).arg(manifest(file)).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn of_kind<'a>(all: &'a [Value], kind: &str) -> &'a Value {
    all.iter().find(|one| one["kind"] == kind).unwrap()
}

fn words(args: &Value) -> Vec<&str> {
    args.as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect()
}

/// The word after `option`.
fn value<'a>(words: &[&'a str], option: &str) -> &'a str {
    words[words.iter().position(|word| *word == option).unwrap() + 1]
}

#[test]
fn manifests_are_what_the_schemas_ask_for() {
    let Some(tools) = tools() else { return };
    for file in FILES {
        let output = validate(&tools, &manifest(file));
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{file}: {said}");
        // A validator that looks at nothing finds nothing.
        assert_eq!(
            said.matches(" passed ").count(),
            read(&tools, file).len(),
            "{file}: {said}"
        );
    }
    let home = home();
    for (file, right, wrong) in [
        ("daemons.yaml", "containerPort: 7411", "containerPort: many"),
        ("daemons.yaml", "tcpSocket:", "tcpSockets:"),
        ("mesh.yaml", "backoffLimit: 0", "backOffLimit: 0"),
    ] {
        let text = std::fs::read_to_string(manifest(file)).unwrap();
        assert!(text.contains(right), "{file}: no {right}");
        home.write("wrong.yaml", &text.replace(right, wrong));
        let output = validate(&tools, &home.path("wrong.yaml"));
        assert!(!output.status.success(), "{wrong} passed");
    }
}

#[test]
fn pods_have_limits_and_no_privilege() {
    let Some(tools) = tools() else { return };
    let mut containers = 0;
    for document in FILES.iter().flat_map(|file| read(&tools, file)) {
        let pod = &document["spec"]["template"]["spec"];
        if pod.is_null() {
            continue;
        }
        let security = &pod["securityContext"];
        assert_eq!(security["runAsNonRoot"], true);
        assert!(security["runAsUser"].as_u64().unwrap() >= 1000);
        assert_eq!(security["seccompProfile"]["type"], "RuntimeDefault");
        assert_eq!(pod["automountServiceAccountToken"], false);
        for list in ["initContainers", "containers"] {
            for container in pod[list].as_array().unwrap() {
                containers += 1;
                let own = &container["securityContext"];
                let denied = [&own["allowPrivilegeEscalation"], &own["privileged"]];
                assert!(denied.iter().all(|value| **value == false), "{container}");
                assert_eq!(own["readOnlyRootFilesystem"], true, "{container}");
                assert_eq!(
                    own["capabilities"]["drop"],
                    serde_json::json!(["ALL"]),
                    "{container}"
                );
                let limits = &container["resources"]["limits"];
                assert!(
                    limits["cpu"].is_string() && limits["memory"].is_string(),
                    "{container}"
                );
            }
        }
        // The key is a file of one user, copied from the secret.
        let copied = words(&pod["initContainers"][0]["command"]);
        assert_eq!(copied[..3], ["install", "-m", "0600"]);
        assert_eq!(pod["volumes"][0]["secret"]["secretName"], "wirespeed-key");
    }
    assert_eq!(containers, 4);
}

#[test]
fn the_client_asks_for_the_name_and_port_at_which_daemons_are_found() {
    let Some(tools) = tools() else { return };
    let (daemons, mesh) = (read(&tools, FILES[0]), read(&tools, FILES[1]));
    let service = of_kind(&daemons, "Service");
    let port = &service["spec"]["ports"][0]["port"];
    assert_eq!(
        service["spec"]["clusterIP"], "None",
        "it stands for all addresses"
    );
    let set = &of_kind(&daemons, "DaemonSet")["spec"]["template"];
    for (key, label) in service["spec"]["selector"].as_object().unwrap() {
        assert_eq!(&set["metadata"]["labels"][key], label);
    }
    let serve = words(&set["spec"]["containers"][0]["args"]);
    assert_eq!(value(&serve, "--port"), port.to_string());
    let client = &of_kind(&mesh, "Job")["spec"]["template"]["spec"]["containers"][0];
    let asked = words(&client["args"]);
    let name = service["metadata"]["name"].as_str().unwrap();
    assert_eq!(value(&asked, "--to"), format!("{name}:{port}"));
    assert_eq!(client["env"][0]["name"], "WIRESPEED_KEY_FILE");
}

#[test]
fn the_daemon_of_the_manifest_serves() {
    let Some(tools) = tools() else { return };
    let _turn = turn();
    let lab = match Lab::new() {
        Ok(lab) => lab,
        Err(reason) => return skip(&reason),
    };
    let home = home();
    let daemons = read(&tools, FILES[0]);
    let args = &of_kind(&daemons, "DaemonSet")["spec"]["template"]["spec"]["containers"][0]["args"];
    let key = home.path("key").display().to_string();
    let on = |side, words: &[&str]| {
        let mut command = lab.command(side, home.program());
        command.args(words).env("WIRESPEED_KEY_FILE", &key);
        home.adopt(&mut command);
        Running::start(command)
    };
    let serve: Vec<&str> = words(args)
        .into_iter()
        .map(|word| if word == "/key/key" { &key } else { word })
        .collect();
    let server = Server::listening(on(Side::B, &serve));
    let to = format!("{}:{}", lab.ipv4(Side::B), value(&serve, "--port"));
    let run = [
        "run", "am_lat", "--via", "tcp", "--to", &to, "--iters", "50", "--check",
    ];
    on(Side::A, &run).end(PATIENCE).code(0);
    server.stop();
    home.assert_nothing_left(SOON);
}
