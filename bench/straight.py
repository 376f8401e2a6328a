"""`LLM.chat` and nothing of ours: what bench/model.py compares the engine with. It runs in the environment
that has vllm, imports nothing of this project, and is asked in lines of JSON:

    in:  the arguments of vllm.LLM                     out: {"version"}
    in:  a list of {"turns", "schema", "sampling"}     out: {"seconds", "tokens_in", "tokens_reused", "said"}

Only the call itself is timed; its parameters are made beforehand. `said` has each answer's text and tokens.
"""

import json
import os
import sys
import time
from typing import Any


def main() -> None:
    """Answers until its standard input ends."""
    # What vllm prints must not get between the answers.
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    import vllm
    from vllm.sampling_params import StructuredOutputsParams

    def say(message: dict[str, Any]) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    llm = vllm.LLM(**json.loads(sys.stdin.readline()))
    say({"version": vllm.__version__})
    for line in sys.stdin:
        questions = json.loads(line)
        parameters = [
            vllm.SamplingParams(
                **each["sampling"], structured_outputs=StructuredOutputsParams(json=each["schema"])
            )
            for each in questions
        ]
        started = time.perf_counter()
        outputs = llm.chat([each["turns"] for each in questions], parameters, use_tqdm=False)
        seconds = time.perf_counter() - started
        say(
            {
                "seconds": seconds,
                "tokens_in": sum(len(output.prompt_token_ids) for output in outputs),
                "tokens_reused": sum(output.num_cached_tokens or 0 for output in outputs),
                "said": [[output.outputs[0].text, len(output.outputs[0].token_ids)] for output in outputs],
            }
        )


if __name__ == "__main__":
    main()
