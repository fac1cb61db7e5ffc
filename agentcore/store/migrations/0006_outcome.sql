-- Whether a run has done its whole task: it came to its end, no limit cut it off, and it did not hand over that it
-- failed or left something.

ALTER TABLE run ADD COLUMN succeeded INTEGER NOT NULL DEFAULT 0;

UPDATE run SET succeeded = 1 WHERE status = 'completed' AND reason = ''
    AND ifnull(CASE WHEN json_valid(result) THEN result ->> 'status' END, '') IN ('', 'completed');

-- Sums read indexes alone, which have it.
DROP INDEX run_usage;
CREATE INDEX run_usage ON run (created, session, agent, model, status, succeeded, turns, duration_ms,
    own_input_tokens, own_output_tokens, own_cached_tokens, own_cost) WHERE copied = 0;
DROP INDEX run_delegated;
CREATE INDEX run_delegated ON run (agent, created, session, status, succeeded, turns, duration_ms, parent_run)
    WHERE parent_run IS NOT NULL;
