"""The settings of the documentation, which ``make docs`` builds."""

from typing import Any

import scarce

project = "scarce"
author = "The scarce developers"
copyright = "2026, The scarce developers"  # the name that Sphinx reads
version = release = scarce.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"scarce {version}"

myst_heading_anchors = 3
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it, in words
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False


def setup(app: Any) -> None:
    """Leave out what adds nothing: fields of tuples, and methods for metadata routing, which scikit-learn explains."""

    def skip(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool:
        return (
            skip or type(member).__name__ == "_tuplegetter" or (name.startswith("set_") and name.endswith("_request"))
        )

    app.connect("autodoc-skip-member", skip)
