"""The report of the closed loop: one page that says whether frozen knowledge helped, and why or why not.

from rollouts.report import write_report
write_report(Path("data"), load_domain("minecraft"))      # data/report/index.html
"""

from rollouts.report.arms import NotEvaluatedError, read_arms
from rollouts.report.writing import report_file, write_report

__all__ = ["NotEvaluatedError", "read_arms", "report_file", "write_report"]
