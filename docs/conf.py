"""The settings of the documentation, which ``make docs`` builds."""

import sys
from typing import Any

import scarce

project = "scarce"
author = "The scarce developers"
copyright = "2026, The scarce developers"  # the name that Sphinx reads
version = release = scarce.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "auto_examples/**.ipynb", "auto_examples/**.py", "auto_examples/**.zip"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["scarce.css"]
html_theme = "furo"
html_title = f"scarce {version}"
html_copy_source = False
default_role = "code"  # `name` in a docstring or an example

myst_heading_anchors = 3
autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it, in words
napoleon_google_docstring = False
napoleon_use_ivar = False  # else threshold_ would lose its underscore
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["auto_examples"],
    "backreferences_dir": "auto_examples/uses",
    "doc_module": ("scarce",),
    "subsection_order": ["../examples/gallery/tasks", "../examples/gallery/methods"],
    "within_subsection_order": "FileNameSortKey",
    "plot_gallery": True,
    "abort_on_example_error": False,  # all failures are shown, and each is an error
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
    "min_reported_time": 5,
}


def setup(app: Any) -> None:
    """Leave out what adds nothing.

    These are fields of tuples, what scikit-learn and river explain, and properties among the attributes of a docstring.
    """

    def skip(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool:
        return (
            skip
            or type(member).__name__ == "_tuplegetter"
            or (getattr(member, "__module__", None) or "").startswith(("sklearn.", "river."))
            or (name.startswith("set_") and name.endswith("_request"))
            or (isinstance(member, property) and is_among_attributes(name, member))
        )

    app.connect("autodoc-skip-member", skip)


def is_among_attributes(name: str, member: property) -> bool:
    """Return True where a class that has the property, or one below it, describes it in its docstring."""
    module = sys.modules[member.fget.__module__]
    owner = getattr(module, member.fget.__qualname__.split(".")[0])
    return any(f"    {name} :" in (each.__doc__ or "") for each in (owner, *all_subclasses(owner)))


def all_subclasses(owner: type) -> list[type]:
    """Return the classes below one, at any depth."""
    return [each for below in owner.__subclasses__() for each in (below, *all_subclasses(below))]
