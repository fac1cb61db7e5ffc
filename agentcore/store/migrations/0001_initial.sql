-- Times are microseconds since 1970 in UTC; names that end in _ms are milliseconds. Everything that
-- belongs to a session goes with it. Links that a foreign key does not enforce may point to what is gone.

CREATE TABLE session (
    id              TEXT PRIMARY KEY,
    title           TEXT NOT NULL,
    roots           TEXT NOT NULL, -- JSON array of absolute paths
    state           TEXT NOT NULL,
    forked_from     TEXT,
    agent           TEXT NOT NULL,
    model           TEXT NOT NULL,
    permission_mode TEXT NOT NULL,
    created         INTEGER,
    updated         INTEGER,
    last_seq        INTEGER NOT NULL DEFAULT 0 -- number of the newest event, trimmed or not
);
CREATE INDEX session_updated ON session (updated);

CREATE TABLE run (
    id              TEXT PRIMARY KEY,
    session         TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    parent_run      TEXT REFERENCES run (id) ON DELETE CASCADE,
    parent_message  TEXT,
    parent_call     TEXT,
    chain           TEXT,
    agent           TEXT NOT NULL,
    role            TEXT NOT NULL,
    depth           INTEGER NOT NULL,
    title           TEXT NOT NULL,
    uri             TEXT NOT NULL,
    model           TEXT NOT NULL,
    prompt          TEXT NOT NULL,
    request_type    TEXT NOT NULL,
    request         TEXT NOT NULL,
    context_mode    TEXT NOT NULL,
    context_tokens  INTEGER NOT NULL,
    response        TEXT NOT NULL,
    summary         TEXT NOT NULL,
    result          TEXT, -- JSON
    status          TEXT NOT NULL,
    reason          TEXT NOT NULL,
    failure         TEXT, -- JSON
    max_turns       INTEGER NOT NULL,
    max_duration_ms INTEGER NOT NULL,
    max_tokens      INTEGER NOT NULL,
    max_cost        REAL NOT NULL,
    turns           INTEGER NOT NULL,
    input_tokens    INTEGER NOT NULL,
    output_tokens   INTEGER NOT NULL,
    cached_tokens   INTEGER NOT NULL,
    cost            REAL, -- US dollars, NULL where the price is unknown
    files_modified  TEXT, -- JSON
    permissions     TEXT, -- JSON
    proposal        TEXT,
    created         INTEGER,
    started         INTEGER,
    completed       INTEGER,
    duration_ms     INTEGER NOT NULL,
    owner           TEXT -- the process that the run is alive in
);
CREATE INDEX run_session ON run (session, created);
CREATE INDEX run_parent ON run (parent_run);
CREATE INDEX run_alive ON run (status) WHERE status IN ('pending', 'running', 'waiting');

CREATE TABLE message (
    id             TEXT PRIMARY KEY,
    run            TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    parent_message TEXT,
    seq            INTEGER NOT NULL,
    role           TEXT NOT NULL,
    parts          TEXT, -- JSON
    tokens         INTEGER NOT NULL,
    time           INTEGER
);
CREATE UNIQUE INDEX message_seq ON message (run, seq);

CREATE TABLE tool_call (
    id         TEXT PRIMARY KEY,
    run        TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    message    TEXT,
    model_call TEXT NOT NULL,
    tool       TEXT NOT NULL,
    arguments  TEXT, -- JSON
    title      TEXT NOT NULL,
    effect     TEXT NOT NULL,
    intent     INTEGER,
    started    INTEGER,
    finished   INTEGER,
    status     TEXT NOT NULL,
    summary    TEXT NOT NULL,
    output     TEXT NOT NULL
);
CREATE INDEX tool_call_run ON tool_call (run, intent);

CREATE TABLE layer_file (
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    run     TEXT REFERENCES run (id) ON DELETE CASCADE, -- NULL for the session's own layer
    path    TEXT NOT NULL,
    base    TEXT NOT NULL,
    own     TEXT NOT NULL,
    created INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    stamp   TEXT NOT NULL,
    updated INTEGER
);
CREATE UNIQUE INDEX layer_file_key ON layer_file (session, ifnull(run, ''), path);
CREATE INDEX layer_file_run ON layer_file (run);

CREATE TABLE finding (
    id           TEXT PRIMARY KEY,
    session      TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    run          TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    uri          TEXT NOT NULL,
    start_line   INTEGER NOT NULL, -- 0-based
    start_column INTEGER NOT NULL, -- bytes, 0-based
    end_line     INTEGER NOT NULL,
    end_column   INTEGER NOT NULL, -- exclusive
    severity     TEXT NOT NULL,
    rule         TEXT NOT NULL,
    message      TEXT NOT NULL,
    source       TEXT NOT NULL,
    hunk         TEXT,
    quote        TEXT NOT NULL,
    state        TEXT NOT NULL,
    reason       TEXT NOT NULL,
    created      INTEGER,
    updated      INTEGER
);
CREATE INDEX finding_session ON finding (session);
CREATE INDEX finding_run ON finding (run);
CREATE INDEX finding_uri ON finding (state, uri);

CREATE TABLE proposal (
    id      TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    run     TEXT,
    agent   TEXT NOT NULL,
    title   TEXT NOT NULL,
    state   TEXT NOT NULL,
    created INTEGER,
    updated INTEGER
);
CREATE INDEX proposal_session ON proposal (session);

CREATE TABLE hunk (
    id         TEXT PRIMARY KEY,
    proposal   TEXT NOT NULL REFERENCES proposal (id) ON DELETE CASCADE,
    path       TEXT NOT NULL,
    state      TEXT NOT NULL,
    start_line INTEGER NOT NULL, -- 0-based
    end_line   INTEGER NOT NULL, -- exclusive
    before     TEXT NOT NULL,
    after      TEXT NOT NULL,
    creates    INTEGER NOT NULL,
    deletes    INTEGER NOT NULL,
    run        TEXT,
    agent      TEXT NOT NULL,
    reason     TEXT NOT NULL,
    created    INTEGER,
    updated    INTEGER
);
CREATE INDEX hunk_proposal ON hunk (proposal);

CREATE TABLE todo (
    run      TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position INTEGER NOT NULL, -- 0-based
    text     TEXT NOT NULL,
    state    TEXT NOT NULL,
    PRIMARY KEY (run, position)
);

CREATE TABLE event (
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    seq     INTEGER NOT NULL, -- from 1
    run     TEXT,
    time    INTEGER NOT NULL,
    type    TEXT NOT NULL,
    body    TEXT NOT NULL, -- JSON
    PRIMARY KEY (session, seq)
);

-- The tables below have no reader yet; they are here so that the schema is whole.

CREATE TABLE ask (
    id        TEXT PRIMARY KEY,
    session   TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    run       TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    call      TEXT,
    tool      TEXT NOT NULL,
    title     TEXT NOT NULL,
    arguments TEXT, -- JSON
    state     TEXT NOT NULL, -- open, answered, expired
    decision  TEXT NOT NULL, -- allow, deny, or empty while open
    scope     TEXT NOT NULL, -- once, run, session, project
    reason    TEXT NOT NULL,
    opened    INTEGER,
    deadline  INTEGER,
    resolved  INTEGER
);
CREATE INDEX ask_session ON ask (session);
CREATE INDEX ask_run ON ask (run);

CREATE TABLE "grant" (
    id       TEXT PRIMARY KEY,
    scope    TEXT NOT NULL, -- run, session, project
    session  TEXT REFERENCES session (id) ON DELETE CASCADE, -- for the scopes run and session
    run      TEXT REFERENCES run (id) ON DELETE CASCADE,     -- for the scope run
    root     TEXT,                                           -- for the scope project
    tool     TEXT NOT NULL,
    pattern  TEXT NOT NULL,
    decision TEXT NOT NULL,
    created  INTEGER,
    revoked  INTEGER
);
CREATE INDEX grant_session ON "grant" (session);
CREATE INDEX grant_run ON "grant" (run);
CREATE INDEX grant_root ON "grant" (root);

CREATE TABLE trust (
    root     TEXT NOT NULL,
    path     TEXT NOT NULL, -- what would act, relative to root; empty for the root itself
    hash     TEXT NOT NULL,
    decision TEXT NOT NULL,
    decided  INTEGER,
    PRIMARY KEY (root, path)
);

CREATE TABLE agent (
    slug       TEXT PRIMARY KEY,
    id         TEXT NOT NULL,
    definition TEXT NOT NULL, -- JSON
    created    INTEGER,
    updated    INTEGER
);
