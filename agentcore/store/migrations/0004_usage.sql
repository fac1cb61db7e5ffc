-- What a run used itself, beside what it used with its children: sums over agents, models and days must count nothing
-- twice. Of former runs the tokens are known, and the cost of those that no model was asked for.

ALTER TABLE run ADD COLUMN own_input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN own_output_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN own_cached_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN own_cost REAL; -- US dollars, NULL where the price is unknown

UPDATE run SET
    own_input_tokens = max(0, input_tokens - (SELECT ifnull(sum(child.input_tokens), 0) FROM run child WHERE child.parent_run = run.id)),
    own_output_tokens = max(0, output_tokens - (SELECT ifnull(sum(child.output_tokens), 0) FROM run child WHERE child.parent_run = run.id)),
    own_cached_tokens = max(0, cached_tokens - (SELECT ifnull(sum(child.cached_tokens), 0) FROM run child WHERE child.parent_run = run.id));
UPDATE run SET own_cost = 0 WHERE turns = 0 OR model = 'offline' OR model LIKE 'offline/%';
UPDATE run SET cost = 0 WHERE cost IS NULL AND NOT EXISTS (
    SELECT 1 FROM run other WHERE other.chain = run.chain AND other.own_cost IS NULL);

-- Both hold all that their queries read: a row has the whole prompt and answer in it.
CREATE INDEX run_usage ON run (created, session, agent, model, status, turns, duration_ms,
    own_input_tokens, own_output_tokens, own_cached_tokens, own_cost);
CREATE INDEX run_delegated ON run (agent, created, session, status, turns, duration_ms, parent_run) WHERE parent_run IS NOT NULL;
