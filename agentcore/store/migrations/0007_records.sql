-- The system prompts that runs were started with, each once, under the hash of its text, which is the run's prompt. Of runs
-- of before, that is the name of the agent, and no text is kept. A text goes with the last run that has it.
CREATE TABLE prompt (
    id   TEXT PRIMARY KEY,
    text TEXT NOT NULL
);
CREATE INDEX run_prompt ON run (prompt);
CREATE TRIGGER prompt_unused AFTER DELETE ON run
WHEN NOT EXISTS (SELECT 1 FROM run WHERE prompt = old.prompt)
BEGIN
    DELETE FROM prompt WHERE id = old.prompt;
END;

ALTER TABLE session ADD COLUMN summary TEXT NOT NULL DEFAULT ''; -- of what was done in it
ALTER TABLE message ADD COLUMN duration_ms INTEGER NOT NULL DEFAULT 0; -- that the model took for it
ALTER TABLE tool_call ADD COLUMN exit_code INTEGER; -- of the command that it ran, NULL where it ran none to its end
