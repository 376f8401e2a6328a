"""How many times an episode may ask its model for a plan or a repair.

One plan and at most `REPAIRS` repairs, in every arm alike. A retry after an answer that broke the schema is a
call like any other and takes one of the repairs: calls of planner and adaptor together never exceed
1 + `REPAIRS`. A diagnosis (the temporary remedy behind a repair) is counted beside them; there is at most one
per repair, so that the repairs bound it.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

REPAIRS: Final = 8

Call = Literal["plan", "repair", "retry"]


class BudgetSpentError(RuntimeError):
    """A call was about to be made that the budget does not hold."""


@dataclass(frozen=True)
class CallBudget:
    """What an episode has asked for so far. Immutable: `spend` gives the budget after a call."""

    repairs_allowed: int = REPAIRS
    plans: int = 0
    repairs: int = 0
    retries: int = 0
    diagnoses: int = 0

    @property
    def used(self) -> int:
        """Calls of planner and adaptor, retries included."""
        return self.plans + self.repairs + self.retries

    @property
    def remaining(self) -> int:
        """Calls that are left: the plan if none was asked for, and the repairs that neither repairs nor
        retries have taken."""
        return (1 - self.plans) + self.repairs_allowed - self.repairs - self.retries

    @property
    def can_repair(self) -> bool:
        """Whether a repair, or a retry, may still be asked for."""
        return self.repairs + self.retries < self.repairs_allowed

    def spend(self, call: Call) -> "CallBudget":
        """The budget after one more `call`; `BudgetSpentError` if it holds none."""
        if call == "plan":
            if self.plans:
                raise BudgetSpentError("an episode has one plan")
            return replace(self, plans=1)
        if not self.can_repair:
            raise BudgetSpentError(f"all {self.repairs_allowed} repairs are spent")
        if call == "repair":
            return replace(self, repairs=self.repairs + 1)
        return replace(self, retries=self.retries + 1)

    def diagnosed(self) -> "CallBudget":
        """The budget after one more request for a temporary remedy."""
        return replace(self, diagnoses=self.diagnoses + 1)

    def row(self) -> dict[str, int]:
        """What is recorded of it: calls by kind, used and remaining."""
        return {
            "plans": self.plans,
            "repairs": self.repairs,
            "retries": self.retries,
            "diagnoses": self.diagnoses,
            "used": self.used,
            "remaining": self.remaining,
        }
