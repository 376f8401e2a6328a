"""In place of the server: it writes down how it was called, and ends."""

import json
import os
import sys
from pathlib import Path

Path(os.environ["FAKE_SERVER_NOTE"]).write_text(
    json.dumps({"arguments": sys.argv[1:], "env": dict(os.environ)})
)
