"""Commands that list workloads, experiments and the state of this machine."""

import sys

import click


@click.command("list", short_help="Show the workloads, or the experiments and their questions.")
@click.option("--json", "as_json", is_flag=True, help="Print all fields as one JSON list.")
@click.option("--experiments", "questions", is_flag=True, help="Show the experiments and their questions instead.")
def list_workloads(as_json: bool, questions: bool) -> None:
    """Show the workloads: parameters, FLOP, batch and dataset; --json adds title, source, claims and the rest."""
    if questions and as_json:
        raise click.UsageError("--json lists workloads; leave out --json or --experiments")
    if questions:
        from suite import experiments

        names = experiments.names()
        width = max(map(len, names))
        for name in names:
            click.echo(f"{name:<{width}}  {experiments.load(name).TITLE}")
        return
    from suite.driver import probing
    from suite.results.records.record import to_json

    workloads = probing.offer("jax").workloads
    if as_json:
        click.echo(to_json(workloads), nl=False)
        return
    from suite import units
    from suite.console import terminal

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


@click.command(short_help="Check what JAX sees and whether this machine is fit to measure.")
def doctor() -> None:
    """Check what JAX sees, and whether this machine is fit to measure; exit 1 if it is not."""
    from suite.console import terminal
    from suite.driver.probing import checks_of_this_machine

    checks = checks_of_this_machine()
    terminal.print_checks(checks)
    if any(check.verdict == "bad" for check in checks):
        sys.exit(1)
