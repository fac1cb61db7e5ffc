"""Every request and command of the custom protocol, with params that are right and with many that are not."""
import json

from runs import CART
from window import ResponseError, command_of, want

DEFINITION = "---\nname: poet\ndescription: Writes poems.\ncategory: [primary]\n---\nYou write poems.\n"
# Ids that nobody gave out, by the name of the member.
NOBODY = {"run": "r00000000000000000000", "session": "s00000000000000000000", "proposal": "p00000000000000000000", "ask": "a00000000000000000000", "grant": "g00000000000000000000",
          "finding": "f00000000000000000000", "message": "m00000000000000000000", "agent": "nobody-of-this-name", "model": "nobody/nothing"}
# A member that may name what there is not: the answer says so.
EXPLAINED = {("agentls.models", "model")}
# Values of another type for each type.
OTHERS = {"string": [5, True, [], {}], "integer": ["x", -1, 1.5, {}], "number": ["x", []], "boolean": ["x", 0], "array": ["x", {}], "object": ["x", 5, []]}


async def methods(play):
    """Each request is made once as it should be; its result is judged by the schema."""
    play.write("cart.go", CART)
    play.write("talk.agentls.md", "## You\n\nImprove it.\n")
    play.write(".agentls/agents/note.md", DEFINITION.replace("poet", "note"))
    await play.script("""
turn match="Improve it."
call edit {"path": "cart.go", "old_string": "// first", "new_string": "// first is better"}
call edit {"path": "cart.go", "old_string": "// second", "new_string": "// second is better"}
call edit {"path": "cart.go", "old_string": "// third", "new_string": "// third is better"}
turn match="Improve it."
call write {"path": ".vscode/settings.json", "content": "{}\\n"}
turn match="Improve it."
wait steered
expect not last Be quick.
expect result write "settings.json"
text Improved.
turn match="Improve it." times=any
text Improved again.
turn match="Wait for me." times=any
wait never
""")
    async with play.window(trusted=None) as w:
        uri, root = await w.open("cart.go"), w.ed.uri("").rstrip("/")
        called = set()

        async def call(method, params=None):
            called.add(method)
            return await w.call(method, params)

        agents = await call("agent/list", {})
        want(agents["default"] == "coder" and all("hidden" not in a["categories"] for a in agents["agents"]), agents)
        await call("agent/list", {"category": "primary"})
        want((await call("agent/get", {"agent": "reviewer"}))["slug"] == "reviewer", "the reviewer")
        want((await call("agent/register", {"text": DEFINITION, "format": "markdown"}))["problems"] == [], "problems of the poet")
        want("agent" not in await call("agent/register", {"text": "---\nnam: x\n---\n"}), "a broken definition was taken")
        want((await call("agent/update", {"agent": "poet", "text": DEFINITION.replace("poems", "odes")}))["agent"]["description"] == "Writes odes.", "the update")
        await call("agent/unregister", {"agent": "poet"})
        want((await call("agent/check", {"text": "name = 5", "format": "toml"}))["problems"], "no problem was found")
        want((await call("agent/check", {"text": DEFINITION}))["problems"] == [], "a problem was found")
        await call("agent/skills", {})
        await call("agent/prompts", {})
        want((await call("agent/expand", {"prompt": "See @cart.go."}))["parts"][1]["kind"] == "file", "the part of a mention")
        await call("agent/mcp")
        trust = await call("agent/trust", {})
        want(trust["trusted"] is False and len(trust["items"]) == 1, trust)
        want((await call("agent/trust", {"folder": root, "change": "trust"}))["trusted"] is True, "trust")
        want((await call("agent/trust", {"folder": root, "change": "revoke"}))["trusted"] is False, "no trust")
        models = await call("agent/models", {"agent": "coder"})
        want(models["default"].startswith("anthropic/"), models)
        snapshot = await call("agent/subscribe", {})
        want(snapshot["sessions"][0]["session"]["runs"] == 0, snapshot)

        started = await call("agent/run", {"agent": "coder", "prompt": "Improve it.", "context": {"uri": uri, "range": {"start": {"line": 2, "character": 0}, "end": {"line": 3, "character": 0}}},
                                           "permissionMode": "default", "limits": {"maxTurns": 20, "timeoutMs": 3600000, "maxTokens": 1000000}})
        session, run = started["session"], started["run"]
        want((await call("agent/wait", {"run": run, "timeoutMs": 1}))["status"] in ("pending", "running", "waiting"), "the status")
        if not w.rich and not w.ed.answered:
            await w.until(lambda: w.ed.answered, "the prompt")
        await w.mark(uri, "coder wants to write")
        ask = (await call("agent/asks", {}))["asks"][0]
        want((await call("agent/explain", {"tool": "write", "call": ".vscode/settings.json", "run": run}))["action"] == "ask", "the explanation")
        want((await call("agent/explain", {"tool": "bash", "call": "rm -rf /", "agent": "reviewer"}))["reason"], "the explanation")
        await call("agent/ask/answer", {"ask": ask["id"], "decision": "allow", "scope": "session"})
        await play.reached("steered")
        await call("agent/steer", {"run": run, "message": "Be quick."})
        grants = (await call("agent/grants", {"session": session}))["grants"]
        want([g["scope"] for g in grants] == ["session"], grants)
        await call("agent/revoke", {"grant": grants[0]["id"]})
        await play.release("steered")
        proposal = (await w.end(run))["proposal"]

        want(len((await call("agent/proposals", {"session": session}))["proposals"]) == 1, "proposals")
        _, hunks = await w.hunks(uri)
        await call("agent/proposal/diff", {"proposal": proposal, "files": [uri]})
        want((await call("agent/proposal/reject", {"proposal": proposal, "hunks": [hunks[0]["id"]]}))["rejected"] == [hunks[0]["id"]], "the rejection")
        if w.capable("workspace.applyEdit"):
            want((await call("agent/proposal/accept", {"proposal": proposal, "files": [uri]}))["failed"] == [], "the edits")
            want(len((await call("agent/undo", {"run": run, "hunks": [hunks[1]["id"]]}))["applied"]) == 1, "the undo")
        else:
            called |= {"agent/proposal/accept", "agent/undo"}
            await w.refused(w.call("agent/proposal/accept", {"proposal": proposal, "files": [uri]}), "unsupported")
            await w.refused(w.call("agent/undo", {"run": run, "hunks": [hunks[1]["id"]]}), "not_found", "unsupported")
        resumed = await call("agent/resume", {"run": run, "prompt": "Improve it."})
        await w.end(resumed["run"])
        waiting = await call("agent/run", {"prompt": "Wait for me."})
        await play.reached("never")
        await call("agent/cancel", {"run": waiting["run"]})
        await w.end(waiting["run"], "cancelled")

        talked = []
        talk = await w.open("talk.agentls.md")
        if w.capable("workspace.applyEdit"):
            sent = await call("agent/conversation/send", {"uri": talk})
            talked.append(sent["run"])
            await w.until(lambda: "Improved again." in w.text(talk), "the answer in the conversation")
            await w.end(sent["run"])
            back = await call("agent/conversation/rewind", {"uri": talk, "run": sent["run"]})
            want(back["runs"] == talked and w.text(talk).rstrip() == "## You\n\nImprove it.", back, w.text(talk))
        else:
            for method, more in (("send", {}), ("rewind", {"run": run})):
                called.add("agent/conversation/" + method)
                await w.refused(w.call("agent/conversation/" + method, {"uri": talk, **more}), "unsupported", "not_found")
        want((await call("agent/conversation", {"run": run}))["uri"].endswith(run + ".agentls.md"), "a conversation")

        rewound = await call("agent/rewind", {"run": run})
        want(rewound["runs"] == [run, resumed["run"]] and rewound["failed"] == [] and "after" not in rewound, "the rewind", rewound)
        if rewound["rejected"] or rewound["undone"]:
            again = await call("agent/restore", {"run": run})
            want(again["runs"] == rewound["runs"] and again["failed"] == [], "what was brought back", again)
            await call("agent/rewind", {"run": run})
        else:
            called.add("agent/restore")
            await w.refused(w.call("agent/restore", {"run": run}), "not_found")

        listed = await call("agent/sessions", {"folder": root, "limit": 10})
        want([s["id"] for s in listed["sessions"]] == [session], listed)
        detail = await call("agent/session", {"session": session})
        want({r["id"] for r in detail["tree"]} == {run, resumed["run"], waiting["run"], *talked}, detail)
        transcript = await call("agent/transcript", {"run": run, "limit": 2})
        want(len(transcript["messages"]) == 2 and transcript["more"], transcript)
        await call("agent/transcript", {"run": run, "after": transcript["messages"][1]["id"]})
        for kind in ("jsonl", "markdown"):
            want((await call("agent/session/export", {"session": session, "format": kind}))["format"] == kind, kind)
        fork = (await call("agent/session/fork", {"session": session}))["session"]
        want((await call("agent/sessions", {"before": fork}))["more"] is False, "more sessions")
        await call("agent/session/delete", {"session": fork})
        for by in ("run", "agent", "model", "session", "project", "day"):
            await call("agent/usage", {"by": by, "since": "2020-01-01T00:00:00Z"})
        if w.rich:
            await call("agent/model/lend", {"models": [{"id": "one", "title": "One", "contextTokens": 1000, "noCalls": True}]})
        else:
            called.add("agent/model/lend")
            await w.refused(w.call("agent/model/lend", {"models": []}), "unsupported")
        missing = {m for m in w.judge.agents.methods if "command" in w.judge.agents.methods[m][1] or command_of(m) in w.judge.agents.commands} - called
        want(not missing, "not called:", missing)


async def commands(play):
    """The commands that are no requests."""
    play.write("cart.go", CART + "\n// agent: say what it is\n")
    play.write("other.go", "package cart\n")
    await play.script("""
turn times=any
text Done.
""")
    async with play.window() as w:
        uri = await w.open("cart.go")
        lines = {"start": {"line": 2, "character": 0}, "end": {"line": 5, "character": 0}}
        for command, params in (
            ("agentls.review", {"uri": uri, "range": lines}), ("agentls.review", {"uris": [uri, w.ed.uri("other.go")]}), ("agentls.explain", {"uri": uri}), ("agentls.rewrite", {"uri": uri, "range": lines}),
            ("agentls.tests", {"uri": uri, "range": lines, "prompt": "few"}), ("agentls.plan", {"uri": uri, "prompt": "Make it short."}), ("agentls.remember", {"uri": uri, "text": "Carts are never empty."}), ("agentls.delegate", {"uri": uri, "agent": "explore", "prompt": "Look."}),
            ("agentls.request", {"uri": uri, "line": 14}), ("agentls.fix", {"uri": uri, "diagnostic": {"range": lines, "severity": "error", "message": "undefined: x"}}),
        ):
            started = await w.ed.execute(command, params)
            await w.end(started["run"])


async def wrong(play):
    """Params that are wrong in one place at a time are refused, and the place is named. Nothing hangs, and the server goes on."""
    play.write("cart.go", CART)
    await play.script("""
turn times=any
text Done.
""")
    async with play.window() as w:
        await w.open("cart.go")
        schemas = w.judge.agents
        shapes = {name: pair["params"] for name, (_, pair) in schemas.commands.items()}
        if w.rich:
            shapes = {name: pair["params"] for name, (_, pair) in schemas.methods.items() if command_of(name) in schemas.commands}
        tried = 0
        for name, shape in shapes.items():
            structure = schemas.structure(shape)
            right = {key: schemas.sample(key, structure["properties"][key]) for key in structure.get("required", ())}
            for params, place in mutants(schemas, structure, right):
                tried += 1
                data = await refusal(w, name, params, -32602)
                want(data["kind"] == "invalid_params", name, params, data)
                want(place in data["detail"], f"{name} {json.dumps(params)}: the detail {data['detail']!r} does not name {place!r}")
            # What nobody knows.
            for key in sorted(structure.get("properties", {}).keys() & NOBODY.keys()):
                if (command_of(name) if w.rich else name, key) in EXPLAINED:
                    continue
                data = await refusal(w, name, right | {key: NOBODY[key]})
                documented = schemas.documented(name)
                want(data["kind"] in documented, f"{name} with {key} {NOBODY[key]}: {data}; documented are {documented}")
        want(tried > 150, "only", tried, "were tried")
        want((await w.call("agent/list", {}))["default"] == "coder", "the server goes on")


async def refusal(w, name, params, code=None):
    """Sends a request or a command that has to fail. Returns the data of its error."""
    method, sent = name, params
    if not name.startswith("agent/"):
        method, sent = "workspace/executeCommand", {"command": name, "arguments": [params]}
    with w.judge.on_purpose():
        _, answer = w.wire.send_request(method, sent)
    try:
        result = await w.within(answer)
    except ResponseError as error:
        want(code is None or error.code == code, f"{name} {json.dumps(params)}: the code is {error.code}, not {code}: {error}")
        want(w.code_of(error.data["kind"]) == error.code, f"{name}: the code of {error.data} is {error.code}")
        return error.data
    raise AssertionError(f"{name} {json.dumps(params)} was not refused: {json.dumps(result)[:200]}")


def mutants(schemas, structure, right, path=""):
    """Params that are wrong in one place, with the name of that place."""
    for key in structure.get("required", ()):
        yield {k: v for k, v in right.items() if k != key}, path + key
    for key, schema in structure.get("properties", {}).items():
        kind = schemas.kind(schema)
        for other in OTHERS.get(kind, ()):
            yield right | {key: other}, path + key
        form = schemas.resolved(schema).get("format")
        for other in {"uri": ["no uri", ""], "date-time": ["yesterday"]}.get(form, ()):
            yield right | {key: other}, path + key
        if kind == "array":
            items = schemas.resolved(schema)["items"]
            for other in OTHERS.get(schemas.kind(items), ()):
                yield right | {key: [other]}, f"{path}{key}[0]"
        if kind == "object":
            inner = schemas.resolved(schema)
            good = {k: schemas.sample(k, inner["properties"][k]) for k in inner.get("required", ())}
            for value, place in mutants(schemas, inner, good, f"{path}{key}."):
                yield right | {key: value}, place


ALL = [methods, commands, wrong]
