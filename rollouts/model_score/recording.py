"""Where scores are kept: beside the log and outside of every fold, since nothing is learnt from them.

model_scores/<score id>/verdicts.parquet, answers.parquet
"""

from pathlib import Path
from typing import Final

from rollouts.model_score.judging import Score
from warehouse.ids import derive_id
from warehouse.shards import replacing

SCORES: Final = Path("model_scores")
"""below the data home"""


def record(home: Path, scored: Score) -> Path:
    """Writes a score's answers and verdicts; the folder, which is named by their content."""
    content = [scored.model, scored.verdicts.to_dicts(), scored.answers.to_dicts()]
    folder = home / SCORES / derive_id("model score", content)
    for name, frame in (("answers", scored.answers), ("verdicts", scored.verdicts)):
        with replacing(folder / f"{name}.parquet") as temporary:
            frame.write_parquet(temporary)
    return folder
