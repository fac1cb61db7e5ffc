-- What one request to a model used, beside its answer, which is a message; of others the model is empty. A cost is US
-- dollars, and NULL where the price is unknown.
ALTER TABLE message ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE message ADD COLUMN input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE message ADD COLUMN output_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE message ADD COLUMN cached_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE message ADD COLUMN cost REAL;

ALTER TABLE run ADD COLUMN background INTEGER NOT NULL DEFAULT 0; -- whether nobody waits for it
ALTER TABLE run ADD COLUMN budget_used INTEGER NOT NULL DEFAULT 0; -- the largest share of a limit, in percent
-- What a run was told and has not read yet, a JSON array of texts, for the run that goes on with it.
ALTER TABLE run ADD COLUMN unread TEXT;
