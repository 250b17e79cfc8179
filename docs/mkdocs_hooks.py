"""Gives mkdocs the repository's pages at their own paths, and what they link to."""

import re
from pathlib import Path

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("*.md", "docs/**/*.md", "core/**/README.md", "app/**/README.md", "models/*/README.md")
LINK = r"\]\(([^)#\s:]+)[^):]*\)"


def pages(folder=""):
    """Paths in the repository, a folder's README first."""
    found = {page for glob in PAGES for page in ROOT.glob(glob)}
    names = [str(page.relative_to(ROOT)) for page in found]
    return sorted(
        (n for n in names if n.startswith(folder)), key=lambda n: (not n.endswith("/README.md"), n)
    )


def linked(name):
    """Files that a page links to, as far as they exist."""
    page = ROOT / name
    places = [
        (page.parent / target).resolve()
        for target in re.findall(LINK, page.read_text(encoding="utf-8"))
    ]
    return {
        str(place.relative_to(ROOT))
        for place in places
        if place.is_file() and place.is_relative_to(ROOT)
    }


def expanded(nav):
    """The navigation, each name of a folder replaced by its pages."""
    if isinstance(nav, dict):
        return {title: expanded(inner) for title, inner in nav.items()}
    if isinstance(nav, list):
        return [entry for inner in nav for entry in expanded_entries(inner)]
    return nav


def expanded_entries(entry):
    is_folder = isinstance(entry, str) and entry.endswith("/")
    return pages(entry) if is_folder else [expanded(entry)]


def on_config(config):
    config.nav = expanded(config.nav)
    config.watch += [str(ROOT / name) for name in pages()]
    return config


def on_files(files, config):
    names = pages()
    names += sorted({target for name in names for target in linked(name)} - set(names))
    ours = [File(name, str(ROOT), config.site_dir, config.use_directory_urls) for name in names]
    theme = [file for file in files if not Path(file.abs_src_path).is_relative_to(config.docs_dir)]
    return Files(ours + theme)
