"""Single faults for good candidates: each changes one thing and names the rule of eq. 6 that it breaks."""

from tests.faults_of_evidence import FAULTS_OF_EVIDENCE
from tests.faults_of_form import FAULTS_OF_FORM
from tests.faults_of_steps import FAULTS_OF_STEPS
from tests.mutation import Mutator

__all__ = ["MUTATORS", "Mutator"]

MUTATORS: tuple[Mutator, ...] = (*FAULTS_OF_FORM, *FAULTS_OF_STEPS, *FAULTS_OF_EVIDENCE)
