//! `mindful launch`: prints the script or manifest by which a launcher starts the ranks of a plan.

use clap::{Arg, ArgMatches};
use mindful_core::plan::settings::{Origin, Setting, parse_choice};
use mindful_core::{Result, plan::units};
use mindful_report::repeat::{flag_words, quoted};
use mindful_runner::Context;

use crate::exit::Exit;
use crate::rank_context::RankContext;
use crate::verb::{Action, Verb};
use crate::{context, layers, registry};

pub(super) const VERB: Verb = Verb {
    name: "launch",
    about: "Print a script or manifest that starts several ranks (Slurm, mpirun, Kubernetes)",
    details: "Launch prints a script, a command or a manifest and runs nothing.",
    example: "mindful launch slurm --ranks 4 --target postgres://host/db --sessions 64",
    page: "docs/scale.md",
    plan: Some("target sessions duration ranks job meet"),
    arguments: || vec![Arg::new("launcher").value_name("LAUNCHER").required(true).help("slurm, mpi or kubernetes")],
    action: Action::Run(launch),
};

/// Default of `--ranks`.
const RANKS: u32 = 2;

const OF_LAUNCHER: [&str; 2] = ["rank", "ranks"];

#[derive(Clone, Copy)]
enum Launcher {
    Slurm,
    Mpi,
    Kubernetes,
}

fn launch(matches: &ArgMatches) -> Result<Exit> {
    let shared = RankContext::of_target(layers::settings(matches)?, 0, matches)?;
    let name = matches.get_one::<String>("launcher").map_or("", String::as_str);
    let names = [("slurm", Launcher::Slurm), ("mpi", Launcher::Mpi), ("kubernetes", Launcher::Kubernetes)];
    let launcher = parse_choice(name, &names)?;
    let ranks = shared
        .context
        .settings
        .parse("ranks", units::parse_count)?
        .map_or(RANKS.max(shared.targets.len() as u32), |ranks| ranks as u32);
    context::print(&match launcher {
        Launcher::Slurm => slurm(&shared, ranks),
        Launcher::Mpi => format!("mpirun -n {ranks} {}\n", command(&shared, &[]).join(" ")),
        Launcher::Kubernetes => kubernetes(&shared, ranks),
    })
}

/// The variables with passwords of this plan: of the target, and of the database where ranks meet.
fn password_variables(context: &Context) -> Vec<&'static str> {
    let meets = context.settings.get("meet").and_then(|url| registry::find(url).ok());
    let mut names: Vec<_> = [Some(context.engine), meets]
        .into_iter()
        .flatten()
        .filter_map(|engine| engine.facts().password_variable)
        .collect();
    names.dedup();
    names
}

/// `mindful run` with all given settings, without secrets, each word quoted for a shell.
fn command(shared: &RankContext, more: &[String]) -> Vec<String> {
    let words = ["mindful".to_owned(), "run".to_owned()].into_iter().chain(given(shared));
    words.chain(more.iter().cloned()).map(|word| quoted(&word)).collect()
}

fn given(shared: &RankContext) -> Vec<String> {
    let settings = shared.context.public_settings();
    let given = settings.iter().filter(|(name, s)| s.origin != Origin::Default && !OF_LAUNCHER.contains(name));
    let values = |name: &str, setting: &Setting| match &*shared.redacted_targets() {
        [_, ..] if name == "target" => shared.redacted_targets(),
        _ => vec![setting.value.clone()],
    };
    let flags = given.flat_map(|(name, setting)| {
        values(name, setting).into_iter().flat_map(move |value| flag_words(name, &value)).collect::<Vec<_>>()
    });
    flags.collect()
}

/// Time limit of a run without a load, in minutes.
fn minutes(context: &Context) -> u64 {
    let plan = &context.plan;
    let work = if plan.ops.is_some() { plan.guard } else { plan.warmup + plan.duration };
    (work.as_secs() / 60 + 10) * 2
}

fn slurm(shared: &RankContext, ranks: u32) -> String {
    let context = &shared.context;
    let (command, minutes) = (command(shared, &[]).join(" "), minutes(context));
    let passwords = match &*password_variables(context) {
        [] => String::new(),
        names => format!(" Password: {} in the environment, or the client's password file.", names.join(", ")),
    };
    format!(
        "#!/bin/sh\n\
         # sbatch starts this script once, srun starts the ranks.{passwords}\n\
         #SBATCH --job-name=mindful\n\
         #SBATCH --ntasks={ranks}\n\
         #SBATCH --ntasks-per-node=1\n\
         #SBATCH --cpus-per-task=2\n\
         #SBATCH --time={minutes}\n\
         #SBATCH --output=mindful-%j.txt\n\
         # A rank that fails tells the others, and all of them end; Slurm need not kill them.\n\
         exec srun --kill-on-bad-exit=0 --cpu-bind=cores {command}\n"
    )
}

/// An indexed Job: each pod is a rank, and no pod is restarted.
fn kubernetes(shared: &RankContext, ranks: u32) -> String {
    let own = ["run".to_owned()].into_iter().chain(given(shared));
    let own = own.chain(["--ranks".to_owned(), ranks.to_string()]);
    let args: Vec<String> = own.map(|word| format!("            - {}\n", for_yaml(&word))).collect();
    let (args, version) = (args.concat(), env!("CARGO_PKG_VERSION"));
    let (secret, passwords) = secrets(&password_variables(&shared.context));
    format!(
        "{secret}# kubectl create -f this.yaml; kubectl logs -f job/NAME shows the report of rank 0.\n\
         apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: mindful-\nspec:\n  completions: {ranks}\n  \
         parallelism: {ranks}\n  completionMode: Indexed\n  # No rank is restarted: if one ends, all \
         end.\n  backoffLimit: 0\n  template:\n    spec:\n      restartPolicy: Never\n      \
         automountServiceAccountToken: false\n      securityContext:\n        runAsNonRoot: true\n        \
         runAsUser: 10001\n        runAsGroup: 10001\n        fsGroup: 10001\n      containers:\n        - name: rank\n          \
         image: registry.example/mindful:{version}\n          args:\n{args}          env:\n            \
         # The pods of this Job meet under its name, and no others.\n            \
         - name: MINDFUL_JOB\n              valueFrom:\n                fieldRef:\n                  \
         fieldPath: metadata.labels['batch.kubernetes.io/controller-uid']\n{passwords}            \
         - name: MINDFUL_STORE\n              value: /data\n          \
         resources:\n            # Whole CPUs, and requests equal to limits: Kubernetes does not throttle.\n            \
         requests: {{cpu: \"2\", memory: 2Gi}}\n            limits: {{cpu: \"2\", memory: 2Gi}}\n          \
         securityContext:\n            allowPrivilegeEscalation: false\n            readOnlyRootFilesystem: true\n            \
         capabilities:\n              drop: [ALL]\n            # The raw engine uses io_uring, which this profile denies: use \
         Unconfined for it.\n            seccompProfile:\n              type: RuntimeDefault\n          volumeMounts:\n            \
         - {{name: data, mountPath: /data}}\n            - {{name: tmp, mountPath: /tmp}}\n      volumes:\n        \
         # Stored runs; use a claim that all pods share to keep them.\n        - name: data\n          emptyDir: {{}}\n        \
         - name: tmp\n          emptyDir: {{}}\n"
    )
}

/// The command that creates the secret with passwords, and the variables that use it.
fn secrets(names: &[&str]) -> (String, String) {
    let key = |name: &str| if names.len() > 1 { name.to_lowercase().replace('_', "-") } else { "password".to_owned() };
    let taken = names.iter().map(|name| {
        format!(
            "            - name: {name}\n              valueFrom:\n                secretKeyRef:\n                  \
             name: mindful-target\n                  key: {}\n                  optional: true\n",
            key(name)
        )
    });
    let given: Vec<String> = names.iter().map(|name| format!("--from-literal={}=...", key(name))).collect();
    let made = format!("# kubectl create secret generic mindful-target {}\n", given.join(" "));
    (if names.is_empty() { String::new() } else { made }, taken.collect())
}

fn for_yaml(word: &str) -> String {
    serde_json::Value::from(word).to_string()
}
