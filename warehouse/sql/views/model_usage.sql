-- What was asked of language models, and what it took. Times and costs are telemetry: a copy of the files below
-- telemetry/, which nothing else reads.
CREATE VIEW model_usage AS
WITH answered AS (
    SELECT
        build,
        role,
        model,
        count(*) AS answers,
        count(*) FILTER (error IS NULL) AS usable,
        count(*) FILTER (ends_with(template, '+again_v1')) AS second_tries,
        map_from_entries(
            list_sort(list_distinct(list(struct_pack(reason := error, n := of_error)) FILTER (error IS NOT NULL)))
        ) AS errors,
        sum(tokens_in) AS tokens_in,
        sum(tokens_out) AS tokens_out
    FROM (SELECT *, count(*) OVER (PARTITION BY build, role, model, error) AS of_error FROM model_calls)
    GROUP BY build, role, model
),

took AS (
    SELECT
        build,
        role,
        model,
        count(*) FILTER (NOT cached) AS asked,
        count(*) FILTER (cached) AS remembered,
        sum(tokens_reused) / nullif(sum(tokens_in) FILTER (NOT cached AND tokens_reused IS NOT NULL), 0)
            AS reused,
        median(seconds) AS seconds,
        sum(cost) AS cost
    FROM telemetry
    GROUP BY build, role, model
)

SELECT
    answered.build,
    answered.role,
    answered.model,
    answered.answers,
    answered.usable,
    answered.second_tries,
    answered.errors,
    answered.tokens_in,
    answered.tokens_out,
    took.asked,
    took.remembered,
    took.reused,
    took.seconds,
    took.cost
FROM answered
LEFT JOIN took USING (build, role, model)
ORDER BY answered.build, answered.role, answered.model;

COMMENT ON VIEW model_usage IS 'What was asked of language models, what came of it, and what did it take? One row per build, role and model';
COMMENT ON COLUMN model_usage.build IS 'The build that it was asked for';
COMMENT ON COLUMN model_usage.role IS 'Who asked';
COMMENT ON COLUMN model_usage.model IS 'Engine and model';
COMMENT ON COLUMN model_usage.answers IS 'Answers in the log, second tries included; the table model_calls has each';
COMMENT ON COLUMN model_usage.usable IS 'Of them, those without an error';
COMMENT ON COLUMN model_usage.second_tries IS 'Of them, those that Inducer and reviewer asked for after an answer that could not be used';
COMMENT ON COLUMN model_usage.errors IS 'Error -> number of answers; null when there is none';
COMMENT ON COLUMN model_usage.tokens_in IS 'Tokens of the prompts; null where no engine counts them';
COMMENT ON COLUMN model_usage.tokens_out IS 'Tokens of the answers; null where no engine counts them';
COMMENT ON COLUMN model_usage.asked IS 'Times that the model was really asked; null for the stand-in, which takes nothing';
COMMENT ON COLUMN model_usage.remembered IS 'Times that the answer was known from before and nobody was asked';
COMMENT ON COLUMN model_usage.reused IS 'Share of the prompt tokens, 0 to 1, that the engine had computed before (its prefix cache); null where it does not say';
COMMENT ON COLUMN model_usage.seconds IS 'Median time from the asking to the answer, in seconds; in a batch that is answered at once, the batch''s';
COMMENT ON COLUMN model_usage.cost IS 'By the prices of the model''s row; null where it has none';
