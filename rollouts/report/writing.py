"""The page, onto the disk."""

from pathlib import Path

from prompts.tokens import PieceCounter, TokenCounter
from rollouts.report.arms import read_arms
from rollouts.report.page import findings, rendered
from rollouts.report.verdict import Verdict
from warehouse.domains import Domain
from warehouse.shards import write_bytes
from warehouse.tasks import Suite


def report_file(home: Path) -> Path:
    """Where a data home's report is, unless somebody wants it elsewhere."""
    return home / "report" / "index.html"


def write_report(
    home: Path,
    domain: Domain,
    suite: Suite,
    out: Path | None = None,
    counter: TokenCounter | None = None,
) -> Verdict:
    """Writes the report of a data home to `out` (`report_file` by default), all of it or nothing; what it
    says.

    `suite` is the one that was played: groups are in its order, and the page says what was not played. The
    same data gives the same bytes. `NotEvaluatedError` and `NotPublishedError` name the command that is
    missing."""
    found = findings(read_arms(home, suite), domain, counter or PieceCounter())
    write_bytes(out or report_file(home), rendered(found).encode())
    return found.verdict
