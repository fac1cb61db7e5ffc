-- Whether the user went back to before the prompt of a run: a conversation goes on with what stands before it.

ALTER TABLE run ADD COLUMN rewound INTEGER NOT NULL DEFAULT 0;
