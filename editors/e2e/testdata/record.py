"""Stands between an editor and a language server, and writes down what they say to each other.

    record.py TRACE COMMAND…

Each line of TRACE is {"from": "client" or "server", "message": …}, in an order in which each side may have seen it: a message is
written down before it is passed on. The last line is {"exit": the server's exit code}.
"""
import json
import os
import subprocess
import sys
import threading

trace = open(sys.argv[1], "w")
server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
lock = threading.Lock()


def note(line):
    with lock:
        trace.write(json.dumps(line) + "\n")
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


def carry(who, source, target):
    for raw, message in frames(source):
        note({"from": who, "message": message})
        try:
            target.write(raw)
            target.flush()
        except (BrokenPipeError, ValueError):
            return


def client():
    carry("client", sys.stdin.buffer, server.stdin)
    try:
        server.stdin.close()
    except BrokenPipeError:
        pass


threading.Thread(target=client, daemon=True).start()
carry("server", server.stdout, sys.stdout.buffer)
code = server.wait()
note({"exit": code})
# The other thread may wait for its input.
os._exit(code)
