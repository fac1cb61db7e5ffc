-- The session of the program that was a run's agent, by the program's own id: whoever goes on with the run goes on with it.

ALTER TABLE run ADD COLUMN program_session TEXT NOT NULL DEFAULT '';
