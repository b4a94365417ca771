"""The command line: parses, calls, prints."""

import dataclasses
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click
from click.shell_completion import CompletionItem

from suite import __version__
from suite.variants import NAMES as VARIANTS
from suite.workload import Allocator, Augmentation, Backend, CompileCache, Implementation, Loader, Precision, Scope

PUBLISHED = Path("site/records")
LOCAL = Path("records")
MOST_WORKERS = 1024


class Words(click.ParamType):
    """One or several of a closed set of words, separated by commas."""

    name = "words"

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(words)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the choices as help shows them."""
        return "|".join(self._words)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Return the words, each once, or fail naming all that there are."""
        if isinstance(value, tuple):
            return value
        found = tuple(dict.fromkeys(word.strip() for word in value.split(",")))
        for word in found:
            if word not in self._words:
                self.fail(f"'{word}' is not one of: {', '.join(self._words)}", param, ctx)
        return found


class Counts(click.ParamType):
    """One or several numbers from 1 up, separated by commas."""

    name = "counts"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what help shows."""
        return "N[,N]..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Return the numbers, each once, or fail saying what they must be."""
        if isinstance(value, tuple):
            return value
        words = [word.strip() for word in value.split(",")]
        if not all(word.isdecimal() and 0 < int(word) <= MOST_WORKERS for word in words):
            self.fail(f"'{value}' is not a list of numbers from 1 to {MOST_WORKERS}, such as 1,2,4", param, ctx)
        return tuple(dict.fromkeys(map(int, words)))


def address(text: str) -> str:
    """Return HOST:PORT, or raise ValueError if it is none."""
    host, sign, port = text.rpartition(":")
    if not sign or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"address '{text}' asked for; write HOST:PORT, such as node1:9461")
    return text


def machine_name(name: str) -> str:
    """Return the name, or raise ValueError if no page and no file may have it."""
    from suite.results.record import plain_name, slug

    if not plain_name(slug(name)):
        raise ValueError(
            f"--machine asked for with {name!r}; use small letters, digits, '.', '-', '_', blanks and commas"
        )
    return name


class Group(click.Group):
    """A group whose commands turn errors meant for the user into one line and a failing exit."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # a terminal that lacks 'µ' shows '?' in its place
        try:
            return super().invoke(ctx)
        except (LookupError, ValueError, RuntimeError, FileExistsError) as error:
            if type(error) not in (LookupError, ValueError, RuntimeError, FileExistsError):
                raise  # a subclass is a defect of ours and deserves its traceback
            raise click.ClickException(str(error)) from error


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="suite")
def main() -> None:
    """Time documented models on CPU and GPU, and publish what was measured."""


@main.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print all there is to know as a JSON list.")
@click.option("--experiments", "questions", is_flag=True, help="Show the experiments and their questions instead.")
def list_workloads(as_json: bool, questions: bool) -> None:
    """Show the workloads: parameters, FLOP, batch and dataset; --json has title, source, claims and all else."""
    if questions:
        from suite import experiments

        for name in experiments.names():
            click.echo(f"{name:<12} {experiments.load(name).TITLE}")
        return
    from suite.measure import request
    from suite.results.record import to_json

    workloads = request.offer("jax").workloads
    if as_json:
        click.echo(to_json(workloads), nl=False)
        return
    from suite import terminal, units

    terminal.print_table(
        "workloads",
        ("name", "parameters", "FLOP/example", "batch", "dataset"),
        (
            (
                w.name,
                units.count(w.parameters),
                units.quantity(w.flop_per_example or None, "FLOP"),
                units.count(w.batch),
                w.dataset,
            )
            for w in workloads
        ),
    )


@main.command()
@click.argument("workloads", nargs=-1, metavar="[WORKLOAD]...")
@click.option("--all", "every_workload", is_flag=True, help="Every workload, not the headline set alone.")
@click.option("--backend", type=Words(get_args(Backend)), default=(), help="Default: every backend that is there.")
@click.option(
    "--profile",
    type=click.Choice(["smoke", "quick", "standard"]),
    default="quick",
    show_default=True,
    help="How much is measured: smoke shows that it runs, quick is citable, standard is tighter.",
)
@click.option("--batch", type=click.IntRange(min=1), help="Examples a step. Default: each workload's headline batch.")
@click.option("--precision", type=Words(get_args(Precision)), default=("float32-highest",), help="Of the GPU side.")
@click.option(
    "--scope",
    type=Words(get_args(Scope)),
    default=("step", "transfer", "cold"),
    help="What is timed. Default: the steady step, the step with its batch copied from the host, and the cold start. "
    "epoch: steps with the input pipeline from storage on; input: that pipeline alone; run: the documented whole run, "
    "where there is one; calls: the first four calls of a fresh process; learning: training from storage and the "
    "accuracy that it comes to; serve: latency and rate of single requests to networks that only infer, four always "
    "under way.",
)
@click.option(
    "--cache",
    type=Words(get_args(CompileCache)),
    default=("empty",),
    help="The compile cache of a cold start. Default: empty. warm: it holds what another process has compiled.",
)
@click.option("--length", type=click.IntRange(min=1), default=1, help="So many times the documented epochs of a run.")
@click.option(
    "--data",
    type=click.Choice(["embedded", "tfds"]),
    default="embedded",
    show_default=True,
    help="embedded: stand-ins that the project makes; tfds: the published data sets, downloaded once.",
)
@click.option("--workers", type=Counts(), default=(), help="Of the input pipeline. Default: as many as granted cores.")
@click.option(
    "--loader",
    type=Words(get_args(Loader)),
    default=("threads",),
    help="What these workers are. Default: threads. PyTorch's pipeline has processes alone.",
)
@click.option(
    "--augmentation",
    type=Words(get_args(Augmentation)),
    default=("host",),
    help="Where scope epoch distorts its examples as documented. Default: host, in the input pipeline.",
)
@click.option(
    "--implementation",
    type=Words(get_args(Implementation)),
    default=("jax",),
    help="Default: jax. With torch or keras beside it the CPU side can be certified, that of the boosted trees with "
    "xgboost; each may have a Python of its own, named by SUITE_TORCH_PYTHON and so on.",
)
@click.option(
    "--variant",
    type=Words(VARIANTS),
    default=(),
    help="How steps are taken. Default: plain for JAX, for its peers every way they have. JAX has plain, nnx-jit (as "
    "tutorials write it), several-steps (a scan in one call), stacked (of a grid search: as many fits at once as "
    "--batch has headline batches) and, of scope run, resident (the data on the device); "
    "PyTorch has plain, compile, and on the GPU graph and compile-graph; Keras has plain; "
    "XGBoost has plain and, on the CPU, one-thread.",
)
@click.option(
    "--allocator",
    type=Words(get_args(Allocator)),
    default=(),
    help="Of the CPU side. Default: beside a peer both for each implementation, whose better one counts; else the one "
    "that keeps its memory.",
)
@click.option(
    "--devices",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Split each batch, or stacked fits, over so many GPUs, or devices made of the CPU's cores. JAX only.",
)
@click.option(
    "--hosts",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Machines that --devices belong to, each with as many. This one drives; run suite follow on the others.",
)
@click.option(
    "--address",
    metavar="HOST:PORT",
    callback=lambda ctx, param, value: None if value is None else address(value),
    help="Of this machine, by which the other --hosts reach it.",
)
@click.option(
    "--experiment",
    metavar="NAME",
    help="What suite list --experiments shows: it decides on batch, precision, variant and all else, and on the "
    "workloads where none is named.",
)
@click.option("--budget", type=click.FloatRange(min=0, min_open=True), metavar="MINUTES", help="Drop what is over.")
@click.option(
    "--cluster",
    type=click.Choice(["slurm", "local"]),
    help="Deal the workloads to jobs on many machines, which share --out, and look after them: a lost one is sent "
    "again. local: on this machine, one after another, which shows that it works.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="So many, of --cluster. Default: one for each workload.")
@click.option(
    "--job-option",
    "job_options",
    multiple=True,
    metavar="NAME=VALUE",
    help="Of sbatch, with --cluster slurm: partition=gpu, gres=gpu:1, time=120 (minutes). May be given several times.",
)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=LOCAL, show_default=True)
@click.option("--resume", is_flag=True, help="Go on with the newest campaign in --out that has not ended.")
@click.option("--publish", is_flag=True, help=f"Put the records under {PUBLISHED} when the campaign has ended.")
@click.option("--report", "site", is_flag=True, help="Render the site at the end, as suite report does.")
@click.option("--prices", type=click.Path(path_type=Path), help="A TOML file of prices. Default: the articles'.")
@click.option(
    "--machine",
    "machine_name",
    callback=lambda ctx, param, value: None if value is None else machine_name(value),
    help="What to call this machine. Default: after its processors.",
)
def run(
    out: Path,
    resume: bool,
    publish: bool,
    site: bool,
    prices: Path | None,
    machine_name: str | None,
    cluster: Any,
    jobs: int | None,
    job_options: tuple[str, ...],
    address: str | None,
    **asked: Any,
) -> None:
    """Measure workloads (default: the headline set) and print the speed-ups, or an experiment and its answers.

    Every completed process is safe on disk; Ctrl-C leaves a valid partial result, --resume goes on with it.
    """
    from suite import bench, terminal
    from suite.measure.request import Request
    from suite.results import prices as price_list

    if publish and asked["profile"] == "smoke":
        raise ValueError(
            "--publish asked for with profile 'smoke', which only shows that it runs; take quick or standard"
        )
    listed = price_list.read(prices or price_list.SHIPPED)
    fields = {field.name for field in dataclasses.fields(Request)}
    request = Request(
        **{key if key in fields else f"{key}s": value for key, value in asked.items() if key != "budget"},
        budget_minutes=asked["budget"],
    )
    if (request.hosts > 1) != (address is not None):
        raise ValueError("--hosts above 1 and --address belong together: the other hosts have to find this one")
    if address is not None:
        from suite.measure import hosts

        os.environ[hosts.ADDRESS] = address
    if cluster is None and (jobs is not None or job_options):
        raise ValueError("--jobs or --job-option asked for without --cluster; add --cluster slurm, or leave them out")
    if cluster is not None and request.hosts > 1:
        raise ValueError("--hosts asked for with --cluster, whose jobs have a node each; leave one of the two out")
    if cluster is None:
        journals = [bench.resumed(out) if resume else bench.planned(request, out, machine_name)]
        if not bench.measure(journals[0], out):
            sys.exit(130)  # at once: who interrupts wants the prompt back
        whole = True
    else:
        whole, journals = run_jobs(out, resume, request, cluster, jobs, job_options, machine_name)
    for journal in journals if publish else ():
        for path in bench.publish(journal, out, PUBLISHED):
            terminal.say(f"published {path}")
    if site:
        bench.report(PUBLISHED, out, True, listed)
    headers = [journal.header() for journal in journals]
    for header in {header.machine.slug: header for header in headers}.values():
        if header.experiment:
            bench.print_answers(header.experiment, (PUBLISHED, out), header.machine)
        elif not site:
            bench.print_results((PUBLISHED, out), header.machine, listed)
    if not whole:
        sys.exit(1)


def run_jobs(
    out: Path,
    resume: bool,
    request: Any,
    cluster: Any,
    jobs: int | None,
    job_options: tuple[str, ...],
    machine_name: str | None,
) -> tuple[bool, list[Any]]:
    """Measure on many machines; return whether every job has left its records, and the journals of those that have."""
    from suite import terminal
    from suite.cluster import plan, planning, supervisor
    from suite.results.journal import FILE_NAME, Journal

    place = (
        plan.unfinished(out, cluster)
        if resume
        else planning.planned(request, out, cluster, jobs, planning.options(job_options), machine_name)
    )
    found = supervisor.watched(place, out)
    terminal.print_table(*supervisor.table(place.read(), found))
    ended = sorted(left.campaign for left in found.values() if isinstance(left, supervisor.Outcome))
    if len(ended) < len(found):
        terminal.say(f"note: run --cluster {cluster} --resume sends the jobs that failed again")
    return len(ended) == len(found), [Journal(out / name / FILE_NAME) for name in ended]


@main.command()
@click.argument("campaign")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=LOCAL, show_default=True)
def publish(campaign: str, out: Path) -> None:
    """Put the records of a CAMPAIGN, a folder in --out, under site/records, from where the site takes its evidence."""
    from suite import bench, terminal

    for path in bench.publish(bench.ended(out, campaign), out, PUBLISHED):
        terminal.say(f"published {path}")


@main.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=LOCAL, show_default=True)
@click.option("--build/--no-build", default=True, show_default=True, help="Build the HTML with MkDocs.")
@click.option("--prices", type=click.Path(path_type=Path), help="A TOML file of prices. Default: the articles'.")
def report(out: Path, build: bool, prices: Path | None) -> None:
    """Render all records, published and local, into the site, and print the table and the site's path."""
    from suite import bench
    from suite.results import prices as price_list

    bench.report(PUBLISHED, out, build, price_list.read(prices or price_list.SHIPPED))


@main.command()
@click.argument("first")
@click.argument("second")
@click.option(
    "--band",
    type=click.FloatRange(min=0),
    metavar="PERCENT",
    help="A difference that does not matter. "
    "Default: by how much processes of one and the same case differ on these machines, at least 1.",
)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=LOCAL, show_default=True)
def compare(first: str, second: str, band: float | None, out: Path) -> None:
    """Say of each case that FIRST and SECOND both have whether the SECOND is faster, slower, or the same.

    Each is a record's file, a folder of them, a campaign, a machine, or a version such as jax==0.12.0.1.
    """
    from suite import bench

    bench.compare(first, second, (PUBLISHED, out), None if band is None else band / 100)


@main.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def check(paths: tuple[Path, ...]) -> None:
    """Say of each record in PATHS, files or folders of them, what it is and whether it can be read as it was written.

    Exit 1 if one cannot, or if there is none.
    """
    from suite import bench

    right = True
    for line, wrong in bench.checked(paths):
        click.echo(line, err=wrong)
        right &= not wrong
    if not right:
        sys.exit(1)


class KeyName(click.ParamType):
    """A key of the published numbers, which the shell completes."""

    name = "key"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the keys that begin so."""
        from suite import citing

        return [CompletionItem(key) for key, _ in citing.listed(PUBLISHED) if key.startswith(incomplete)]


@main.command()
@click.argument("key", type=KeyName(), required=False)
@click.option(
    "--list", "listed", is_flag=True, help="Show every key whose number may be quoted; KEY then filters them."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "bibtex", "csl", "badge"]),
    default="text",
    show_default=True,
    help="markdown: a marked quotation for check-docs; csl: CSL-JSON; badge: an SVG picture.",
)
@click.option("--site", metavar="ADDRESS", default="", help="Where the site is published: gives addresses.")
def cite(key: str | None, listed: bool, form: Any, site: str) -> None:
    """Print the number that KEY names, pinned to its record, as documentation quotes it.

    KEY is machine/workload/backend/scope/metric, with @DIGEST that of one record for ever. Exit 1 if there is none.
    """
    from suite import citing

    if listed:
        for name, number in citing.listed(PUBLISHED, key or ""):
            click.echo(f"{name}  {number}")
    elif key is None:
        raise click.UsageError("name a KEY, or give --list to see them all")
    else:
        click.echo(citing.cited(key, form, PUBLISHED, site), nl=form != "badge")


@main.command("check-docs")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--write", is_flag=True, help="Bring quotations whose key is not pinned up to date.")
def check_docs(files: tuple[Path, ...], write: bool) -> None:
    """Compare the marked quotations in FILES with the published records; exit 1 if a number is not its record's."""
    from suite import citing

    right = True
    for line, wrong in citing.checked(files, PUBLISHED, write):
        click.echo(line, err=wrong)
        right &= not wrong
    if not right:
        sys.exit(1)


@main.command()
@click.argument("address", metavar="HOST:PORT", callback=lambda ctx, param, value: address(value))
@click.option(
    "--patience",
    type=click.FloatRange(min=0, min_open=True),
    default=10,
    show_default=True,
    metavar="MINUTES",
    help="How long to wait for that host to begin, and between its processes.",
)
def follow(address: str, patience: float) -> None:
    """Take part in what suite run --hosts measures at HOST:PORT, until it has no more for this machine to do."""
    from suite import bench, terminal

    count = bench.follow(address, 60 * patience)
    terminal.say(f"took part in {count} processes")
    if not count:
        sys.exit(1)


@main.group()
def data() -> None:
    """Show and prepare the data sets: stand-ins that the project makes, or the published ones."""


@data.command("list")
def list_data() -> None:
    """Show the data sets, where they lie and how large they are."""
    from suite import datasets, terminal

    terminal.print_table("data sets", datasets.COLUMNS, datasets.rows())


@data.command("prepare")
@click.argument("name")
@click.option("--data", "kind", type=click.Choice(["embedded", "tfds"]), default="embedded", show_default=True)
@click.option(
    "--size",
    type=click.Choice(["small", "documented"]),
    default="documented",
    show_default=True,
    help="Of the stand-in: small for steps and tests, or as many examples as the articles have.",
)
def prepare_data(name: str, kind: Any, size: Any) -> None:
    """Make the stand-in of data set NAME, or download the published one, and print where it lies."""
    from suite import datasets

    click.echo(datasets.prepared(name, kind, size))


@data.command("path")
@click.argument("name")
@click.option("--data", "kind", type=click.Choice(["embedded", "tfds"]), default="embedded", show_default=True)
@click.option("--size", type=click.Choice(["small", "documented"]), default="documented", show_default=True)
def data_path(name: str, kind: Any, size: Any) -> None:
    """Print where data set NAME lies, or will lie once it is prepared."""
    from suite import datasets

    click.echo(datasets.path(name, kind, size))


@data.command("gallery")
def data_gallery() -> None:
    """Draw the pictures of the site's page of data anew, from their seeds, and print the files."""
    from suite import gallery

    for file in gallery.draw(PUBLISHED.parent):
        click.echo(file)


@main.command()
def doctor() -> None:
    """Say what JAX sees, and whether this machine is fit to measure; exit 1 if it is not."""
    from suite import bench, terminal

    checks = bench.doctor()
    terminal.print_checks(checks)
    if any(check.verdict == "bad" for check in checks):
        sys.exit(1)


if __name__ == "__main__":
    main()
