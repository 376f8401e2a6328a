"""Messages between the parent and the model's process: one line each, and the same after the pipe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from prompts.engines.vllm_messages import (
    TO_CHILD,
    TO_PARENT,
    Answered,
    Chat,
    Failed,
    Load,
    Loaded,
    Question,
    Reply,
    Turn,
    written,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
counts = st.none() | st.integers(0, 10_000)
questions = st.builds(
    Question,
    turns=st.lists(st.builds(Turn, role=st.sampled_from(["system", "user"]), content=texts), max_size=3).map(
        tuple
    ),
    json_schema=st.dictionaries(texts, texts, max_size=3),
    max_tokens=st.integers(1, 100),
    temperature=st.floats(0, 2),
    top_p=st.floats(0.1, 1),
    seed=st.integers(0, 9),
)
replies = st.builds(
    Reply, text=texts, finish_reason=texts, tokens_in=counts, tokens_out=counts, refused=st.none() | texts
)


@given(
    st.builds(Chat, questions=st.lists(questions, max_size=3).map(tuple))
    | st.builds(Load, arguments=st.just({}))
)
def test_what_the_parent_says_arrives_as_it_was(message: Chat | Load) -> None:
    line = written(message)
    assert line.count(b"\n") == 1
    assert TO_CHILD.validate_json(line) == message


@given(
    st.builds(Answered, replies=st.lists(replies, max_size=3).map(tuple))
    | st.builds(Failed, why=texts)
    | st.builds(Loaded, version=texts)
)
def test_what_the_child_says_arrives_as_it_was(message: Answered | Failed | Loaded) -> None:
    line = written(message)
    assert line.count(b"\n") == 1
    assert TO_PARENT.validate_json(line) == message


@given(st.binary(max_size=60))
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(ValidationError):
        TO_PARENT.validate_json(line)
