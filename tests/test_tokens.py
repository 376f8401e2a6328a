"""Token counts: a model's own tokens where it has a tokenizer, an honest estimate where there is none."""

from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from prompts.rendering import SEPARATOR, render_entry
from prompts.tokens import EntryCost, HuggingFaceCounter, PieceCounter
from tests.test_rendering import remedy, skill
from warehouse.entries import Entry, Support


@pytest.fixture
def tokenizer_json(tmp_path: Path) -> Path:
    """A word tokenizer that adds special tokens and truncates, as files of trained models do."""
    tokenizer = Tokenizer(
        models.WordLevel({"[UNK]": 0, "[CLS]": 1, "craft": 2, "stick": 3}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 1)])
    tokenizer.enable_truncation(max_length=3)
    tokenizer.enable_padding(length=8)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def test_a_model_is_counted_by_its_own_tokens_alone(tokenizer_json: Path) -> None:
    counter = HuggingFaceCounter(tokenizer_json)
    assert counter.count("craft stick now") == 3
    assert counter.count("craft " * 50) == 50
    assert counter.count("") == 0


def test_a_missing_tokenizer_is_an_error_and_no_estimate(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no tokenizer at"):
        HuggingFaceCounter(tmp_path / "tokenizer.json")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", 0),
        ("craft stick", 2),
        ("crafting_table", 4),
        ("1234", 4),
        ("deadbeef" * 3, 4),
    ],
)
def test_pieces_are_short_words_digits_and_parts_of_long_words(text: str, pieces: int) -> None:
    assert PieceCounter().count(text) == pieces


def test_the_estimate_grows_with_the_text() -> None:
    counter = PieceCounter()
    text = render_entry(remedy())
    counts = [counter.count(text[:end]) for end in range(0, len(text), 20)]
    assert counts == sorted(counts)
    assert len(text) / 6 < counter.count(text) < len(text)


def test_the_cost_of_an_entry_is_its_block_with_the_separator_and_is_rendered_once() -> None:
    rendered: list[str] = []

    def render(entry: Entry) -> str:
        rendered.append(entry.entry_id)
        return render_entry(entry)

    cost = EntryCost(PieceCounter(), render)
    expected = PieceCounter().count(render_entry(skill()) + SEPARATOR)
    assert [cost(skill()), cost(skill())] == [expected, expected]
    assert rendered == [skill().entry_id]


def test_a_cost_is_worked_out_anew_when_the_block_says_something_else() -> None:
    cost = EntryCost(PieceCounter())
    before = cost(skill())
    stronger = skill().model_copy(
        update={"support": tuple(Support(feedback_id=str(n), episode_id=str(n)) for n in range(1000))}
    )
    assert cost(stronger) > before
