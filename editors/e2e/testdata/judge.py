"""Judges a trace of record.py by the probe's rules of LSP, its types, and our own schemas.

    judge.py PROBE SCHEMAS TRACE

The exit code is 1 where the server broke a rule, or where the client's own part of the custom protocol is at fault.
"""
import json
import sys

sys.path.insert(0, sys.argv[1])
from minischema import Schemas  # noqa: E402
from validator import Validator  # noqa: E402

validator = Validator(prefixes=("agent/",), schemas=Schemas(sys.argv[2]))
messages = methods = 0
seen = set()
for line in open(sys.argv[3]):
    entry = json.loads(line)
    if "exit" in entry:
        validator.finish(entry["exit"])
        continue
    messages += 1
    message = entry["message"]
    if message.get("method", "").startswith("agent/"):
        seen.add(message["method"])
    (validator.sent if entry["from"] == "client" else validator.received)(message)
bad = [f for f in validator.findings if f.level == "error" and (f.side == "server" or f.method.startswith("agent"))]
for finding in validator.findings:
    print(finding)
print(f"{messages} messages, {len(seen)} methods of the custom protocol: {', '.join(sorted(seen))}; {len(bad)} errors")
sys.exit(bool(bad) or not messages)
