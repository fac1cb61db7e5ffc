"""Plays the stories of one client profile, and judges every message of both sides.

    suite.py PROBE SCHEMA SERVER HOME MODELS PROFILE plain|rich [STORY…]

PROBE is the probe's folder, SCHEMA agent.schema.json, MODELS the address of the scripted models. A rich client announces everything of the custom
protocol. The exit code is 1 where a story went another way, or where the server broke a rule or has done what a client stumbles over.
"""
import asyncio
import json
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, sys.argv[1])
import edits  # noqa: E402
import lent  # noqa: E402
import protocol  # noqa: E402
import rude  # noqa: E402
import runs  # noqa: E402
from judge import ClosedSchemas  # noqa: E402
from window import Play, Stage  # noqa: E402


def excused(finding):
    """Whether a finding is none of the server's, or one of what it does on purpose."""
    if finding.side == "client":
        return not finding.method.startswith("agent/")
    return (finding.level, finding.rule, finding.method, finding.text) in PURPOSE


# Each of these is a warning, and a decision of the package comment in lsp/doc.go.
PURPOSE = {
    # A client that announces nothing of diagnostics is pushed them: it would have nothing else.
    ("warn", "not-announced", "textDocument/publishDiagnostics", "textDocument.publishDiagnostics"),
    # Neovim announces no documentChanges, but resource operations, which exist in no other form, and refuses an edit of
    # an older version.
    ("warn", "not-announced", "textDocument/codeAction", "a version, but documentChanges is not announced"),
    ("warn", "not-announced", "workspace/applyEdit", "a version, but documentChanges is not announced"),
}


async def main():
    probe, schema, server, home, models, name, kind, *only = sys.argv[1:]
    profile = json.loads((Path(probe) / "profiles" / f"{name}.json").read_text())
    stage = Stage(server, profile, kind == "rich", Path(home), models, ClosedSchemas(schema))
    wrong = 0
    for story in [*runs.ALL, *edits.ALL, *lent.ALL, *protocol.ALL, *rude.ALL]:
        if only and story.__name__ not in only:
            continue
        began, play = time.perf_counter(), Play(stage, story.__name__)
        try:
            await story(play)
            await play.check()
            print(f"{story.__name__:12} {time.perf_counter() - began:5.2f} s")
        except Exception:
            wrong += 1
            print(f"{story.__name__:12} FAILED\n{traceback.format_exc()}\nthe last messages:\n{tail(play)}")
    messages, methods = 0, set()
    for story, judge in stage.judges:
        messages += judge.number
        methods |= judge.methods
        for finding in judge.findings:
            if not excused(finding):
                wrong += 1
                print(f"{story}: {finding}")
    print(f"{name}, {kind}: {messages} messages, {len(methods)} methods, {wrong} faults")
    return min(wrong, 1)


def tail(play):
    """The end of what both sides said."""
    lines = (play.home / "traffic.jsonl").read_text().splitlines()[-25:]
    return "\n".join(line[:600] for line in lines)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
