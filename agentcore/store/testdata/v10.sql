-- A database of schema version 10, with rows in all tables. It is never changed: what was written by that version must be read by all later ones.

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
, owner TEXT, summary TEXT NOT NULL DEFAULT '');
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
, own_input_tokens INTEGER NOT NULL DEFAULT 0, own_output_tokens INTEGER NOT NULL DEFAULT 0, own_cached_tokens INTEGER NOT NULL DEFAULT 0, own_cost REAL, copied INTEGER NOT NULL DEFAULT 0, succeeded INTEGER NOT NULL DEFAULT 0, background INTEGER NOT NULL DEFAULT 0, budget_used INTEGER NOT NULL DEFAULT 0, unread TEXT, rewound INTEGER NOT NULL DEFAULT 0, program_session TEXT NOT NULL DEFAULT '');
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
, duration_ms INTEGER NOT NULL DEFAULT 0, model TEXT NOT NULL DEFAULT '', input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0, cached_tokens INTEGER NOT NULL DEFAULT 0, cost REAL);
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
, exit_code INTEGER);
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
, moved_from TEXT NOT NULL DEFAULT '', authors TEXT);
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
, detail TEXT NOT NULL DEFAULT '', move_to TEXT NOT NULL DEFAULT '', place_start INTEGER NOT NULL DEFAULT 0, place_end INTEGER NOT NULL DEFAULT 0, above TEXT NOT NULL DEFAULT '', below TEXT NOT NULL DEFAULT '', stamp TEXT NOT NULL DEFAULT '');
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
, expires INTEGER);
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
CREATE INDEX hunk_path ON hunk (state, path);
CREATE INDEX layer_file_path ON layer_file (path);
CREATE TABLE clock (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    seen   INTEGER NOT NULL,
    steady INTEGER NOT NULL
);
CREATE INDEX tool_call_message ON tool_call (message);
CREATE INDEX tool_call_unlinked ON tool_call (run) WHERE message IS NULL;
CREATE INDEX run_usage ON run (created, session, agent, model, status, succeeded, turns, duration_ms,
    own_input_tokens, own_output_tokens, own_cached_tokens, own_cost) WHERE copied = 0;
CREATE INDEX run_delegated ON run (agent, created, session, status, succeeded, turns, duration_ms, parent_run)
    WHERE parent_run IS NOT NULL;
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
INSERT INTO "session" (id, title, roots, state, forked_from, agent, model, permission_mode, created, updated, last_seq, owner, summary) VALUES ('s1', 'Fix the parser; it''s "broken"', '["/w/one","/w/two"]', 'open', NULL, 'coder', 'anthropic/claude', 'accept_edits', 1790000000000001, 1790000000000900, 2, '32028-5197163', 'The parser was fixed.');
INSERT INTO "session" (id, title, roots, state, forked_from, agent, model, permission_mode, created, updated, last_seq, owner, summary) VALUES ('s2', 'A copy', '["/w/one"]', 'closed', 's1', 'reviewer', 'offline', 'plan', 1790000000000002, 1790000000000800, 0, NULL, '');
INSERT INTO "run" (id, session, parent_run, parent_message, parent_call, chain, agent, role, depth, title, uri, model, prompt, request_type, request, context_mode, context_tokens, response, summary, result, status, reason, failure, max_turns, max_duration_ms, max_tokens, max_cost, turns, input_tokens, output_tokens, cached_tokens, cost, files_modified, permissions, proposal, created, started, completed, duration_ms, owner, own_input_tokens, own_output_tokens, own_cached_tokens, own_cost, copied, succeeded, background, budget_used, unread, rewound, program_session) VALUES ('r1', 's1', NULL, 'm0', 'c0', 'r1', 'coder', 'main', 0, 'Fix it', 'file:///w/one/a.go', 'anthropic/claude', '1ebf40a2530e16b4e316d17f6a0b1e41ea0a02b6461871a1e7006271e89654d8', 'prompt', 'Fix it,
please: ü', 'none', 12, 'Done.', 'Done', '{"status":"completed"}', 'running', 'max_turns', '{"kind":"store"}', 50, 600000, 5000, 1.5, 3, 1000, 200, 30, 0.25, '["/w/one/a.go"]', '{"tools":["read"]}', 'p1', 1790000000000003, 1790000000000004, 1790000000000005, 1500, '32028-5197163', 600, 150, 20, 0.25, 0, 0, 0, 0, '["Be quick."]', 0, '');
INSERT INTO "run" (id, session, parent_run, parent_message, parent_call, chain, agent, role, depth, title, uri, model, prompt, request_type, request, context_mode, context_tokens, response, summary, result, status, reason, failure, max_turns, max_duration_ms, max_tokens, max_cost, turns, input_tokens, output_tokens, cached_tokens, cost, files_modified, permissions, proposal, created, started, completed, duration_ms, owner, own_input_tokens, own_output_tokens, own_cached_tokens, own_cost, copied, succeeded, background, budget_used, unread, rewound, program_session) VALUES ('r2', 's1', 'r1', 'm2', 'c1', 'r1', 'explore', 'explore', 1, 'Look', 'file:///w/one', 'offline', 'explore', 'delegation', 'Look.', 'summary', 0, '', '', NULL, 'completed', '', NULL, 0, 0, 0, 0.0, 1, 0, 0, 0, 0.0, NULL, NULL, NULL, 1790000000000006, 1790000000000007, 1790000000000008, 1000, NULL, 0, 0, 0, 0.0, 0, 1, 1, 40, NULL, 0, '');
INSERT INTO "run" (id, session, parent_run, parent_message, parent_call, chain, agent, role, depth, title, uri, model, prompt, request_type, request, context_mode, context_tokens, response, summary, result, status, reason, failure, max_turns, max_duration_ms, max_tokens, max_cost, turns, input_tokens, output_tokens, cached_tokens, cost, files_modified, permissions, proposal, created, started, completed, duration_ms, owner, own_input_tokens, own_output_tokens, own_cached_tokens, own_cost, copied, succeeded, background, budget_used, unread, rewound, program_session) VALUES ('r3', 's2', NULL, NULL, NULL, 'r3', 'coder', 'main', 0, 'Fix it', '', 'offline', '', '', '', '', 0, '', '', NULL, 'interrupted', 'the copy ends here', NULL, 0, 0, 0, 0.0, 0, 0, 0, 0, 0.0, NULL, NULL, NULL, 1790000000000009, NULL, 1790000000000010, 0, NULL, 0, 0, 0, 0.0, 1, 0, 0, 0, NULL, 1, '');
INSERT INTO "message" (id, run, parent_message, seq, role, parts, tokens, time, duration_ms, model, input_tokens, output_tokens, cached_tokens, cost) VALUES ('m1', 'r1', 'm0', 1, 'user', '[{"type":"text","text":"Fix it"}]', 4, 1790000000000011, 0, '', 0, 0, 0, NULL);
INSERT INTO "message" (id, run, parent_message, seq, role, parts, tokens, time, duration_ms, model, input_tokens, output_tokens, cached_tokens, cost) VALUES ('m2', 'r1', 'm1', 2, 'assistant', '[{"type":"text","text":"I look."}]', 5, 1790000000000012, 1200, 'anthropic/claude', 1000, 200, 30, 0.25);
INSERT INTO "message" (id, run, parent_message, seq, role, parts, tokens, time, duration_ms, model, input_tokens, output_tokens, cached_tokens, cost) VALUES ('m3', 'r3', 'm0', 1, 'assistant', '[]', 6, 1790000000000013, 0, '', 0, 0, 0, NULL);
INSERT INTO "tool_call" (id, run, message, model_call, tool, arguments, title, effect, intent, started, finished, status, summary, output, exit_code) VALUES ('c1', 'r1', 'm2', 'call_1', 'bash', '{"command":"go test ./..."}', 'run go test', 'acts', 1790000000000014, 1790000000000015, 1790000000000016, 'ok', 'ok', 'ok
', 1);
INSERT INTO "tool_call" (id, run, message, model_call, tool, arguments, title, effect, intent, started, finished, status, summary, output, exit_code) VALUES ('c2', 'r1', 'm2', 'call_2', 'read', '{}', 'read', 'reads', 1790000000000017, 1790000000000018, NULL, '', '', '', NULL);
INSERT INTO "layer_file" (session, run, path, base, own, created, deleted, stamp, updated, moved_from, authors) VALUES ('s1', 'r1', '/w/one/a.go', 'a
', 'b
', 1, 1, 'stamp', 1790000000000019, '/w/one/b.go', '[{"run":"r1","agent":"coder","reason":"why"}]');
INSERT INTO "layer_file" (session, run, path, base, own, created, deleted, stamp, updated, moved_from, authors) VALUES ('s1', NULL, '/w/one/a.go', 'a
', 'c
', 0, 0, 'other', 1790000000000020, '', NULL);
INSERT INTO "finding" (id, session, run, uri, start_line, start_column, end_line, end_column, severity, rule, message, source, hunk, quote, state, reason, created, updated) VALUES ('f1', 's1', 'r1', 'file:///w/one/a.go', 1, 2, 3, 4, 'error', 'go/x', 'wrong', 'vet', 'h1', 'x := 1', 'open', 'none', 1790000000000021, 1790000000000022);
INSERT INTO "proposal" (id, session, run, agent, title, state, created, updated) VALUES ('p1', 's1', 'r1', 'coder', 'Fix it', 'open', 1790000000000023, 1790000000000024);
INSERT INTO "hunk" (id, proposal, path, state, start_line, end_line, before, after, creates, deletes, run, agent, reason, created, updated, detail, move_to, place_start, place_end, above, below, stamp) VALUES ('h1', 'p1', '/w/one/a.go', 'open', 1, 2, 'a
', 'b
', 1, 1, 'r1', 'coder', 'because', 1790000000000025, 1790000000000026, 'why', '/w/one/c.go', 1, 2, 'x
', 'y
', 'stamp');
INSERT INTO "todo" (run, position, text, state) VALUES ('r1', 0, 'first', 'done');
INSERT INTO "todo" (run, position, text, state) VALUES ('r1', 1, 'second', 'pending');
INSERT INTO "event" (session, seq, run, time, type, body) VALUES ('s1', 1, 'r1', 1790000000000036, 'TurnStarted', '{"turn":1}');
INSERT INTO "event" (session, seq, run, time, type, body) VALUES ('s1', 2, NULL, 1790000000000037, 'Notice', '{"level":"warning","message":"careful","hint":"or not"}');
INSERT INTO "ask" (id, session, run, call, tool, title, arguments, state, decision, scope, reason, opened, deadline, resolved) VALUES ('a1', 's1', 'r1', 'c1', 'bash', 'run go test', '{"command":"go test"}', 'answered', 'allow', 'run', 'yes', 1790000000000027, 1790000000000028, 1790000000000029);
INSERT INTO "grant" (id, scope, session, run, root, tool, pattern, decision, created, revoked, expires) VALUES ('g1', 'project', 's1', 'r1', '/w/one', 'bash', 'go test*', 'allow', 1790000000000030, 1790000000000032, 1790000000000031);
INSERT INTO "trust" (root, path, hash, decision, decided) VALUES ('/w/one', '.agentls/config.toml', 'abc', 'trust', 1790000000000033);
INSERT INTO "agent" (slug, id, definition, created, updated) VALUES ('helper', 'id', '{"name":"helper"}', 1790000000000034, 1790000000000035);
INSERT INTO "clock" (id, seen, steady) VALUES (1, 1790000000000000, 1789913600000000);
INSERT INTO "prompt" (id, text) VALUES ('1ebf40a2530e16b4e316d17f6a0b1e41ea0a02b6461871a1e7006271e89654d8', 'You write code; it''s "good".');
PRAGMA user_version = 10;
