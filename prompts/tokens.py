"""How long a text is for a model: the unit of the retrieval budget B of eq. 7.

`HuggingFaceCounter` counts with the configured model's own tokenizer. The `rules` engine has no model and so
no tokenizer; `PieceCounter` stands in for one there, and says how far it can be trusted.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from tokenizers import Tokenizer, models, pre_tokenizers

from prompts.rendering import SEPARATOR, render_entry
from warehouse.entries import Entry

PIECE_BYTES: Final = 6
_UNKNOWN: Final = "?"


class TokenCounter(Protocol):
    """Counts tokens."""

    def count(self, text: str) -> int:
        """Tokens in `text`, without the special tokens that a chat template adds; 0 for ""."""
        ...


class HuggingFaceCounter:
    """The real tokens of a model, read from its `tokenizer.json`.

    `FileNotFoundError` when the file is not there; there is no silent change to an estimate.
    """

    def __init__(self, tokenizer_json: Path) -> None:
        if not tokenizer_json.is_file():
            raise FileNotFoundError(f"no tokenizer at {tokenizer_json}")
        self._tokenizer = Tokenizer.from_file(str(tokenizer_json))
        # A file may carry the truncation or padding of its training, either of which would falsify a count.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def count(self, text: str) -> int:
        """Tokens in `text`, without special tokens."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


class PieceCounter:
    """An estimate without a vocabulary: the pieces that byte-level models cut a text into before they merge.

    The library's own pre-tokenizers are chained: byte-level words (a word with its leading blank, a run of
    punctuation), then single digits, then pieces of at most `PIECE_BYTES` bytes.

    - Too high for common long words (one token in most vocabularies, two or three pieces here), for numbers
      in vocabularies that keep several digits together, and for long runs of blanks.
    - Too low for rare strings such as hexadecimal ids or escapes, which real vocabularies cut into pieces of
      two or three bytes, and for scripts other than Latin (up to a token per byte; 6 bytes make a piece).

    Knowledge blocks are common English words joined by underscores and signs, where the first group
    dominates.
    """

    def __init__(self) -> None:
        # With a vocabulary of nothing each piece is one unknown token, and none is copied only to be counted.
        self._tokenizer = Tokenizer(models.WordLevel({_UNKNOWN: 0}, unk_token=_UNKNOWN))
        self._tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.ByteLevel(add_prefix_space=False),
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.FixedLength(length=PIECE_BYTES),
            ]
        )

    def count(self, text: str) -> int:
        """Pieces in `text`."""
        (encoded,) = self._tokenizer.encode_batch_fast([text], add_special_tokens=False)
        return len(encoded)


class EntryCost:
    """The cost function of retrieval: tokens of an entry's rendered block with its separator, remembered.

    The sum over chosen entries can differ by a few tokens from the count of the joined text, because a
    vocabulary may merge across a boundary; the caller counts the final text once.
    """

    def __init__(self, counter: TokenCounter, render: Callable[[Entry], str] = render_entry) -> None:
        self._counter = counter
        self._render = render
        self._known: dict[tuple[object, ...], int] = {}

    def __call__(self, entry: Entry) -> int:
        """Tokens of `entry`'s block."""
        # The id covers type, trigger and content; the rest is what else a block shows.
        key = (entry.entry_id, entry.verification, entry.confidence, entry.support_episodes)
        if key not in self._known:
            self._known[key] = self._counter.count(self._render(entry) + SEPARATOR)
        return self._known[key]
