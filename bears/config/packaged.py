"""What ships with the package, and what a project adds to it."""

from pathlib import Path

from bears.errors import ConfigurationError
from bears.files.intake.files import read_text
from bears.layout import CONF, PARAMS, PIPELINE

PACKAGE = Path(__file__).parents[1]
SHIPPED = PACKAGE / "project" if (PACKAGE / "project").is_dir() else PACKAGE.parent
"""The folder that ships conf/, params.yaml and dvc.yaml: in the wheel, or the checkout."""
CHECKOUT = PACKAGE.parent == SHIPPED
STAGES = "bears.stages" if (PACKAGE / "stages").is_dir() else "stages"
"""The package of the stages: within ``bears`` in the wheel, beside it in the checkout."""
CODE_FOLDERS = {
    "bears": PACKAGE.parent,
    "stages": PACKAGE if STAGES == "bears.stages" else PACKAGE.parent,
}
"""The folders that hold these packages."""
OURS = "      - bears\n      - conf\n      - stages\n"
"""The dependencies of `config` in the checkout, whose code changes beside its data."""


def conf_folders(conf: Path = CONF) -> list[Path]:
    """Return the folders of the configuration: the project's own, if there is one, before ours.

    Raises:
        ConfigurationError: ours is missing.
    """
    shipped = SHIPPED / CONF
    if not shipped.is_dir():
        raise ConfigurationError(f"{shipped} is missing: install the package again")
    own = [conf.resolve()] if conf.is_dir() and conf.resolve() != shipped.resolve() else []
    return [*own, shipped.resolve()]


def conf_file(name: str | Path, conf: Path = CONF) -> Path:
    """Return a file of the configuration: the project's own, if there is one, else ours."""
    files = [folder / name for folder in conf_folders(conf)]
    return next((file for file in files if file.exists()), files[-1])


def pipeline() -> str:
    """Return the text of dvc.yaml for a project: ours, but for where the stages are."""
    text = read_text(SHIPPED / PIPELINE)
    text = text.replace("python -m stages.", f"python -m {STAGES}.")
    # DVC cannot see that the package was upgraded, so `config` runs each time, in a second.
    return text.replace(f"    deps:\n{OURS}", "    deps: []\n    always_changed: true\n", 1)


def require_project() -> None:
    """Raise ConfigurationError unless the working directory is a project."""
    if not (PARAMS.is_file() or PIPELINE.is_file()):
        raise ConfigurationError(
            f"{Path.cwd()} is not a project: it has no {PIPELINE}. Go to a project, or make one: "
            "bears init NAME"
        )


def install_command(extra: str) -> str:
    """Return the command that installs the packages of ``extra``, in backticks."""
    return f"`make {extra}`" if CHECKOUT else f'`pip install "bears-bench[{extra}]"`'
