"""Candor makes MCP servers honest about failure. The package holds the candor executable, which `main` runs."""

import os
import sys
import sysconfig

__all__ = ["find_executable", "main"]


def find_executable() -> str:
    """Return the path of the installed candor executable."""
    name = "candor-mcp" + (sysconfig.get_config_var("EXE") or "")
    folders = [sysconfig.get_path("scripts")]
    if hasattr(sysconfig, "get_preferred_scheme"):
        folders.append(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    # pip install --target puts scripts into bin beside the package.
    folders.append(os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin"))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"candor-mcp: {name} is not in {', '.join(folders)}; reinstall the package")


def main() -> None:
    """Run candor with the arguments of this process, in its place where the system can do that."""
    try:
        executable = find_executable()
    except FileNotFoundError as err:
        sys.exit(str(err))
    arguments = [executable, *sys.argv[1:]]
    if os.name == "posix":
        os.execv(executable, arguments)
    import subprocess  # slow to load, and only needed here

    sys.exit(subprocess.run(arguments, check=False).returncode)
