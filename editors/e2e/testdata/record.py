"""Stands between an editor and a language server, writes down what they say to each other, and has the probe judge it.

    record.py TRACES PROBE SCHEMAS COMMAND…

It judges as it goes, before it passes a message on: what an edit may do depends on the files of that moment. Each server gets a file
PID.jsonl of its own in the folder TRACES, since a story may start several. A line of it is

    {"from": "client" or "server", "message": …}
    {"finding": the probe's words, "counts": whether it is a fault of agentls}
    {"exit": the server's exit code}

The last one is missing where this program was killed; the server then dies with it, as if it had been killed itself.
"""
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import traceback

traces, probe, schemas, *command = sys.argv[1:]
sys.path.insert(0, probe)
from minischema import Schemas  # noqa: E402
from validator import Validator  # noqa: E402

PR_SET_PDEATHSIG = 1  # prctl(2)
libc = ctypes.CDLL(None, use_errno=True)

validator = Validator(prefixes=("agent/",), schemas=Schemas(schemas))
trace = open(os.path.join(traces, f"{os.getpid()}.jsonl"), "w")
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
lock = threading.Lock()
told = 0


def note(line, judge):
    """Writes a line down, and what the probe finds in it."""
    global told
    with lock:
        lines = [line]
        try:
            judge()
        except Exception:
            lines.append({"finding": traceback.format_exc(), "counts": True})
        for f in validator.findings[told:]:
            # The client's part of the custom protocol is ours, too.
            ours = f.side == "server" or f.method.startswith("agent")
            lines.append({"finding": str(f), "counts": f.level == "error" and ours})
        told = len(validator.findings)
        trace.write("".join(json.dumps(one) + "\n" for one in lines))
        trace.flush()


def frames(source):
    while True:
        header, length = b"", None
        while not header.endswith(b"\r\n\r\n"):
            line = source.readline()
            if not line:
                return
            header += line
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        body = source.read(length)
        if len(body) < length:
            return
        yield header + body, json.loads(body)


def carry(who, judge, source, target):
    for raw, message in frames(source):
        note({"from": who, "message": message}, lambda: judge(message))
        try:
            target.write(raw)
            target.flush()
        except (BrokenPipeError, ValueError):
            return


def client():
    carry("client", validator.sent, sys.stdin.buffer, server.stdin)
    try:
        server.stdin.close()
    except BrokenPipeError:
        pass


threading.Thread(target=client, daemon=True).start()
carry("server", validator.received, server.stdout, sys.stdout.buffer)
code = server.wait()
# A signal is what a story did to the server: nothing is to be asked of it then.
note({"exit": code}, lambda: validator.finish(code) if code >= 0 else None)
# The other thread may wait for its input.
os._exit(code if code >= 0 else 128 - code)
