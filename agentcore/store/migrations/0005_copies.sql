-- Copies of runs, which forks and imports make, are history: no model was asked for them, and sums leave them out. One of
-- before is known by answers without a request.

ALTER TABLE run ADD COLUMN copied INTEGER NOT NULL DEFAULT 0;

UPDATE run SET copied = 1 WHERE turns = 0 AND input_tokens = 0 AND output_tokens = 0 AND duration_ms = 0
    AND EXISTS (SELECT 1 FROM message WHERE message.run = run.id AND message.role = 'assistant');

DROP INDEX run_usage;
CREATE INDEX run_usage ON run (created, session, agent, model, status, turns, duration_ms,
    own_input_tokens, own_output_tokens, own_cached_tokens, own_cost) WHERE copied = 0;

-- What the clock said when somebody last looked, and since when it has gone evenly: age counts only by a clock that is believed.
CREATE TABLE clock (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    seen   INTEGER NOT NULL,
    steady INTEGER NOT NULL
);

-- A page of a transcript reads the calls of its messages alone.
CREATE INDEX tool_call_message ON tool_call (message);
CREATE INDEX tool_call_unlinked ON tool_call (run) WHERE message IS NULL;
