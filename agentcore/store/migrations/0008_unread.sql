-- What a run was told and has not read yet, a JSON array of texts, for the run that goes on with it.
ALTER TABLE run ADD COLUMN unread TEXT;
