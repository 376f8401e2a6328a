"""`mineevolve ui`."""

import os
import subprocess
import sys

from pipeline.command.console import out
from pipeline.settings import Settings


def serve(port: int) -> None:
    """Runs Dagster's web server and daemon on the project's instance until it is interrupted."""
    from pipeline.launch import prepare

    settings = Settings()
    home = prepare(settings)
    environment = os.environ | {
        "DAGSTER_HOME": str(home),
        "MINEEVOLVE_DATA": str(settings.home),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
    }
    out.print(f"Dagster on http://127.0.0.1:{port} (stop with Ctrl-C); its home is {home}")
    command = [
        sys.executable,
        "-m",
        "dagster",
        "dev",
        "-m",
        "pipeline.definitions",
        "-h",
        "127.0.0.1",
        "-p",
        str(port),
    ]
    raise SystemExit(subprocess.call(command, env=environment))
