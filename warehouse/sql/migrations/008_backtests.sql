-- What the conditions of a candidate would have said before recorded attempts (warehouse/backtest.py).
CREATE TABLE backtests (
    build VARCHAR NOT NULL,
    candidate_id VARCHAR PRIMARY KEY,
    verdict VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    attempts INTEGER NOT NULL,
    fired INTEGER NOT NULL,
    episodes INTEGER NOT NULL,
    hits INTEGER NOT NULL,
    successes INTEGER NOT NULL,
    quiet INTEGER NOT NULL,
    missed INTEGER NOT NULL,
    unknown INTEGER NOT NULL,
    "precision" DOUBLE,
    precision_low DOUBLE,
    precision_high DOUBLE,
    recall DOUBLE
);
