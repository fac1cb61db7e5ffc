-- What a session proposes outlives its process: hunks that wait or can be undone, and the layers of its runs, go over
-- to the next session on the same folders.

ALTER TABLE session ADD COLUMN owner TEXT; -- the process that the session is open in

ALTER TABLE hunk ADD COLUMN detail TEXT NOT NULL DEFAULT '';
ALTER TABLE hunk ADD COLUMN move_to TEXT NOT NULL DEFAULT '';
-- Where the hunk's text stands: "before", or "after" once it is accepted; the lines around it; the stamp of the
-- whole text.
ALTER TABLE hunk ADD COLUMN place_start INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hunk ADD COLUMN place_end INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hunk ADD COLUMN above TEXT NOT NULL DEFAULT '';
ALTER TABLE hunk ADD COLUMN below TEXT NOT NULL DEFAULT '';
ALTER TABLE hunk ADD COLUMN stamp TEXT NOT NULL DEFAULT '';
UPDATE hunk SET place_start = start_line, place_end = end_line;
CREATE INDEX hunk_path ON hunk (state, path);

ALTER TABLE layer_file ADD COLUMN moved_from TEXT NOT NULL DEFAULT '';
ALTER TABLE layer_file ADD COLUMN authors TEXT; -- JSON
CREATE INDEX layer_file_path ON layer_file (path);
