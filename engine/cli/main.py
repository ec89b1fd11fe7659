"""`gpu-advisor`: the job of the window without one. Exit 0 an answer, 1 nothing fits, 2 bad input, 3 the world."""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

import engine
from engine.cli.chosen import language_of, note_language
from engine.cli.usage import UsageError, localised, usage_text
from engine.errors import InputError, KnownError, WorldError
from engine.i18n import Language
from engine.messages.mark import N_

__all__ = ["main"]

#: What the program does where there is no screen and nothing was asked for.
EXAMPLE = "full-70b-rented"
MAX_CASE_BYTES = 1_000_000
NOTHING_FITS, BAD_INPUT, WORLD_FAILED, INTERRUPTED = 1, 2, 3, 130

app = typer.Typer(
    help=N_("Which GPUs to buy or rent for an LLM job: will it fit, how long, what does it cost, and why."),
    invoke_without_command=True,
    no_args_is_help=False,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help=N_("Print one JSON document and nothing else."))]
Lang = Annotated[str | None, typer.Option("--lang", metavar="en|zh_CN", help=N_("Language of the answer."))]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help=N_("For a training configuration: say or change a setting.")),
]
Pdf = Annotated[Path | None, typer.Option("--pdf", metavar="OUT.pdf", help=N_("Write the report to this file."))]


def _say(text: str) -> None:
    print(text, file=sys.stderr)


@app.callback()
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help=N_("Print the version."))] = False,
    headless: Annotated[bool, typer.Option("--headless", help=N_("Open no window."))] = False,
    pdf: Pdf = None,
    lang: Lang = None,
) -> None:
    """Open the window; without a screen, do a bundled example in the terminal."""
    if context.invoked_subcommand is not None:
        return
    if version:
        print(f"gpu-advisor {engine.__version__}")
        return
    language = language_of(lang)
    if headless:
        print(language.gettext("No window was asked for. Here is a bundled example instead."))
        _example(language, pdf)
        return
    from engine.cli.screen import SYSTEM_LIBRARIES, screen_problem

    problem = screen_problem()
    if problem is not None:
        params = {"packages": SYSTEM_LIBRARIES} if problem == "qt_library" else {}
        print(language.error(WorldError(f"cli.{problem}", **params)))
        _example(language, pdf)
        return
    from gui.app import run_app

    raise typer.Exit(run_app([sys.argv[0]]))


def _example(language: Language, pdf: Path | None) -> None:
    """The whole road without a screen: advice on a bundled scenario, and its PDF."""
    from engine.examples import scenario_or_example

    _advise(scenario_or_example(Path(EXAMPLE), language), language, pdf=pdf or _example_pdf())


def _example_pdf() -> Path:
    """A file in the current folder, or in the temporary one where that can't be written."""
    folder = Path.cwd()
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        folder = Path(tempfile.gettempdir())
    return folder / "gpu-advisor-example.pdf"


@app.command(help=N_("Advise on a scenario: which plans work, what they cost, which is best, and why."))
def advise(
    scenario: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help=N_("A saved scenario, the name of a bundled example, or a training configuration or script."),
        ),
    ],
    changes: Set = None,
    as_json: Json = False,
    pdf: Pdf = None,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="OUT.json", help=N_("Write the record that verify checks."))
    ] = None,
    profile: Annotated[
        str,
        typer.Option("--profile", metavar="memo|full|university|grant|research|business", help=N_("Kind of report.")),
    ] = "memo",
    lang: Lang = None,
) -> None:
    """Advise on a scenario."""
    from engine.examples import scenario_or_example
    from engine.report.document import Profile

    language = language_of(lang)
    if profile not in get_args(Profile):
        raise InputError("cli.no_such_profile", value=profile)
    run = _run_of(scenario, language, quiet=as_json)
    if run is None:
        wanted = scenario_or_example(scenario, language)
    else:
        from engine.runs.scenario import overrides_of, scenario_of

        wanted = scenario_of(run, overrides_of(changes or ()), date.today())
    found = _advise(wanted, language, pdf=pdf, profile=profile, as_json=as_json, record=record)
    if not found:
        raise typer.Exit(NOTHING_FITS)


@app.command(help=N_("Compute the record of a report again and say whether it is identical, or what differs."))
def verify(
    file: Annotated[Path, typer.Argument(metavar="REPORT.json", help=N_("A record that was saved with a report."))],
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Check a record."""
    from engine.catalog.load import load_catalog
    from engine.report.verify import read_record, verify_record
    from engine.report.verify_words import verification_answer, verification_lines

    language = language_of(lang)
    found = verify_record(read_record(file), load_catalog())
    if as_json:
        from engine.cli.answers import dumps

        print(dumps(verification_answer(found)))
    else:
        print("\n".join(verification_lines(found, language)))
    if not found.identical:
        raise typer.Exit(NOTHING_FITS)


@app.command(help=N_("List the bundled examples."))
def examples(lang: Lang = None) -> None:
    """List the bundled examples."""
    from engine.examples import EXAMPLES

    language = language_of(lang)
    for example in EXAMPLES:
        print(f"{example.name}\n    {language.gettext(example.title)}: {language.gettext(example.text)}")


def _advise(
    scenario: Any,
    language: Language,
    *,
    pdf: Path | None = None,
    profile: Any = "memo",
    as_json: bool = False,
    record: Path | None = None,
) -> bool:
    """Print the advice and write its report. Whether anything meets the constraints."""
    from engine.advice.advise import advise as find_advice
    from engine.catalog.load import load_catalog
    from engine.cli.answers import advice_answer, dumps

    catalog = load_catalog()
    advice = find_advice(scenario, catalog)
    moment = datetime.now().astimezone()
    if record is not None:
        from engine.files import write_atomically
        from engine.report.export import record_bytes
        from engine.report.record import created_here

        write_atomically(record, record_bytes(advice, created_here(moment)))
    if pdf is not None:
        from engine.files import write_atomically
        from engine.report.pdf import render_pdf

        write_atomically(pdf, render_pdf(advice, language, profile, created_at=moment, catalog=catalog))
    if as_json:
        print(dumps(advice_answer(advice, language)))
    else:
        from engine.cli.text import print_advice

        print_advice(advice, language)
        if pdf is not None:
            print(language.fill("The report is in {path}", path=pdf.resolve()))
    return bool(advice.picks)


@app.command(help=N_("Estimate memory and speed of one fixed plan, a case."))
def estimate(
    case: Annotated[
        Path,
        typer.Argument(
            metavar="CASE|RUN",
            help=N_("A flat JSON object, see docs/cases.md; or a training configuration or script."),
        ),
    ],
    changes: Set = None,
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Estimate one fixed plan."""
    from engine.catalog.load import load_catalog
    from engine.cli.answers import dumps, estimate_answer
    from engine.validation.estimate import estimate_case

    language = language_of(lang)
    run = _run_of(case, language, quiet=as_json)
    if run is None:
        values = read_case(case)
    else:
        from engine.runs.scenario import case_of, overrides_of

        values = case_of(run, overrides_of(changes or ()))
    found = estimate_case(values, load_catalog())
    if as_json:
        from engine.cli.run_text import run_answer

        more = {"run": run_answer(run, language)} if run is not None else {}
        print(dumps(estimate_answer(found, language) | more))
    else:
        from engine.cli.text import print_estimate

        print_estimate(found, language)


@app.command(help=N_("Show how the recommended plan is started: commands and files for the programs that can run it."))
def launch(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help=N_("A saved scenario, or the name of a bundled example."))
    ],
    program: Annotated[
        str | None, typer.Option("--program", help=N_("Only this program, for example TRL or vLLM."))
    ] = None,
    task: Annotated[str | None, typer.Option("--task", help=N_("Id of the task; without it, the first."))] = None,
    folder: Annotated[Path | None, typer.Option("--out", help=N_("Write the files into this folder."))] = None,
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Show how the recommended plan is started."""
    from engine.cli.answers import dumps
    from engine.cli.launch import chosen_recipe, launch_answer, print_launch, recipes_of_file, save_recipe

    language = language_of(lang)
    plan, found = recipes_of_file(file, task, language)
    recipes = chosen_recipe(found, program) if found else found
    if as_json:
        print(dumps(launch_answer(plan, recipes, language)))
    elif recipes:
        print_launch(plan, recipes, language)
    else:
        print(language.gettext("No program that is known here can run a plan for this scenario."))
    if folder is not None and recipes:
        for written in save_recipe(recipes[0], folder):
            print(written, file=sys.stderr)
    if not recipes:
        raise typer.Exit(1)


@app.command(help=N_("Say what would make a task fit on a card, what each change costs, and how far it could go."))
def fit(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help=N_("A saved scenario, an example's name, a case, or a training configuration or script."),
        ),
    ],
    gpu: Annotated[str | None, typer.Option("--gpu", help=N_("Card to look at; a case names its own."))] = None,
    gpus: Annotated[int, typer.Option("--gpus", min=1, max=4096, help=N_("Number of these cards."))] = 1,
    task: Annotated[str | None, typer.Option("--task", help=N_("Id of the task; without it, the first."))] = None,
    changes: Set = None,
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Say what would make it fit."""
    from engine.cli.answers import dumps
    from engine.cli.fit import fit_answer, fit_of_file, print_fit

    language = language_of(lang)
    run = _run_of(file, language, quiet=as_json)
    values: dict[str, Any] | None = None
    if run is not None:
        from engine.runs.scenario import case_of, overrides_of

        values = case_of(run, overrides_of(changes or ()))
        gpu, gpus = gpu or values.get("gpu"), gpus if gpus > 1 else int(values.get("n_gpus") or 1)
    found = fit_of_file(file, gpu, gpus, task, language, values)
    if as_json:
        from engine.cli.run_text import run_answer

        more = {"run": run_answer(run, language)} if run is not None else {}
        print(dumps(fit_answer(found, language) | more))
    else:
        print_fit(found, language)
    if not found.best_fits:
        raise typer.Exit(NOTHING_FITS)


def _run_of(path: Path, language: Language, *, quiet: bool) -> Any:
    """What a training configuration or script says, shown unless `quiet`; None for any other file."""
    from engine.cli.run_text import is_run, print_run

    if not is_run(path):
        return None
    from engine.catalog.load import load_catalog
    from engine.runs.read import read_run

    run = read_run(path, load_catalog())
    if not quiet:
        print_run(run, language)
    return run


def read_case(path: Path) -> dict[str, Any]:
    """A file that holds one JSON object."""
    from engine.validation.tables import read_text

    try:
        value = json.loads(read_text(path, MAX_CASE_BYTES))
    except json.JSONDecodeError as error:
        raise InputError("case.not_json", file=str(path), line=error.lineno, column=error.colno) from error
    except (RecursionError, ValueError) as error:
        raise InputError("case.not_json", file=str(path), line=1, column=1) from error
    if not isinstance(value, dict):
        raise InputError("case.not_json", file=str(path), line=1, column=1)
    return value


@app.command(help=N_("Show what was read of a model: its dimensions, its parameters by part, and what was guessed."))
def model(
    name: Annotated[
        str,
        typer.Argument(
            metavar="PATH|ID", help=N_("A config.json, a model folder, a GGUF file, a catalogue name, or a size.")
        ),
    ],
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Show what was read of a model."""
    from engine.cli.answers import dumps, model_answer
    from engine.cli.find_model import find_model, model_file
    from engine.cli.model_text import file_answer, print_file

    language = language_of(lang)
    file = model_file(name)
    found = file.architecture if file is not None else find_model(name)
    if as_json:
        print(dumps(model_answer(found) | (file_answer(file, language) if file is not None else {})))
    else:
        from engine.cli.text import print_model

        print_model(found, language)
        if file is not None:
            print_file(file, language)


@app.command(help=N_("Run a file of measured or traced cases through the program and print how far off it is."))
def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help=N_("A file of cases."))],
    split: Annotated[str | None, typer.Option("--split", help=N_("Only rows of this part: calibrate or test."))] = None,
    as_json: Json = False,
    lang: Lang = None,
) -> None:
    """Keep score on a file of cases."""
    from engine.catalog.load import load_catalog
    from engine.cli.answers import dumps, validation_answer
    from engine.validation.validate import validate_file

    language = language_of(lang)
    report = validate_file(file, load_catalog(), split=split)
    if as_json:
        print(dumps(validation_answer(report, language)))
    else:
        from engine.cli.text_validation import print_validation

        print_validation(report, language)


def _command() -> Any:
    from engine.cli.catalog import app as catalog_app

    if not app.registered_groups:
        app.add_typer(catalog_app, name="catalog")
    return typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    language = note_language(given)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without Chinese shows question marks, not a traceback
            stream.reconfigure(errors="replace")
    try:
        command = localised(_command(), language)
        result = command.main(given, prog_name="gpu-advisor", standalone_mode=False)
    except InputError as error:
        _say(language.error(error))
        return BAD_INPUT
    except KnownError as error:
        _say(language.error(error))
        return WORLD_FAILED
    except UsageError as error:
        _say(usage_text(error, language))
        return BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
        return 0
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())
