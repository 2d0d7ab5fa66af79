"""The viewer's JavaScript modules as one classic script, which runs from a file too.

Browsers load modules only over HTTP, and a report is a file that someone double-clicks. So the
modules are joined in a fixed order inside one function: imports and the word ``export`` go, and
what they meant is checked here, at least once for every release, by a test.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

ORDER = (
    "dom",
    "payload",
    "theme",
    "text",
    "view_tree",
    "names",
    "spread",
    "ranks",
    "rows",
    "block",
    "layout",
    "colouring",
    "camera",
    "lines",
    "headlines",
    "draw",
    "neighbours",
    "search",
    "outline",
    "facts",
    "kernels",
    "details",
    "minimap",
    "legend",
    "virtual_table",
    "operators",
    "plain_tables",
    "keys",
    "pointer",
    "url_state",
    "toolbar",
    "actions",
    "viewer",
    "main",
)
"""A module uses only those before it."""

_IMPORT = re.compile(r"^import \{([^}]*)\} from \"\./(\w+)\.js\";\n", re.MULTILINE)
_ANY_IMPORT = re.compile(r"^import\b", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
_DEFINED = re.compile(r"^(export )?(?:async )?(?:function\*?|class|const|let) (\w+)", re.MULTILINE)
_ENDS_SCRIPT = re.compile(r"</script|<!--", re.IGNORECASE)


class ScriptError(ValueError):
    """The modules do not fit together; a mistake in this package."""


@cache
def viewer_script() -> str:
    """The script that a page runs."""
    folder = files("graphlens.renderers").joinpath("assets", "viewer")
    return joined(
        {name: folder.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in ORDER}, ORDER
    )


def joined(modules: Mapping[str, str], order: Sequence[str]) -> str:
    """Modules as one script.

    Args:
        modules: Their text by name.
        order: Their names; a module imports only from those before it.

    Raises:
        ScriptError: Two modules define the same name, or one imports what is not there.
    """
    exported: dict[str, set[str]] = {}
    owner: dict[str, str] = {}
    parts: list[str] = []
    for name in order:
        text = modules[name]
        _check_imports(name, text, exported)
        exported[name] = set()
        for is_exported, defined in _DEFINED.findall(text):
            if defined in owner:
                raise ScriptError(f"{name}.js and {owner[defined]}.js both define {defined}")
            owner[defined] = name
            if is_exported:
                exported[name].add(defined)
        body = _EXPORT.sub("", _IMPORT.sub("", text))
        if _ANY_IMPORT.search(body) or re.search(r"^export\b", body, re.MULTILINE):
            raise ScriptError(f"{name}.js imports or exports in a form that is not known here")
        if _ENDS_SCRIPT.search(body):
            raise ScriptError(f"{name}.js has text that would end the script")
        parts.append(f"// {name}.js\n{body.strip()}\n")
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def _check_imports(name: str, text: str, exported: Mapping[str, set[str]]) -> None:
    for names, source in _IMPORT.findall(text):
        if source not in exported:
            raise ScriptError(f"{name}.js imports {source}.js, which does not come before it")
        wanted = {one.strip() for one in names.split(",") if one.strip()}
        missing = wanted - exported[source]
        if missing:
            raise ScriptError(f"{source}.js does not export {', '.join(sorted(missing))}")
