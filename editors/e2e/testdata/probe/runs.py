"""Stories about runs: reviews, children, questions, ends."""
from judge import Judge
from window import answers, at, said, want

CART = """package cart

// first
func First() {
}

// second
func Second() {
}

// third
func Third() {
}
"""


async def judging(play):
    """The judge finds what is wrong: a story that passes says something."""
    await play.script("")
    schemas = play.stage.schemas
    for name, value in (("RunStarted", {"session": "s1", "run": ""}), ("RunStarted", {"session": "s1", "run": "r1", "more": 1}), ("RunStarted", {"session": "s1"}),
                        ("Event", {"type": "TurnStarted", "seq": 1, "session": "s1", "time": "today", "turn": 1}), ("Event", {"type": "Nonsense"}),
                        ("Finding", {"id": "f1", "uri": "no uri", "span": {}, "severity": "error", "message": ""}), ("Failure", None)):
        want(schemas.of(name, value), "no fault in", name, value)
    want(not schemas.of("RunStarted", {"session": "s1", "run": "r1"}), "a fault in nothing")
    judge = Judge(play.stage.model, schemas)
    judge.sent({"jsonrpc": "2.0", "id": 1, "method": "agent/list", "params": {}})
    judge.received({"jsonrpc": "2.0", "id": 1, "error": {"code": -32803, "message": "no", "data": {"kind": "x"}}})
    judge.received({"jsonrpc": "2.0", "method": "agent/status", "params": {"health": "ok"}})
    judge.finish(3)
    want({f.rule for f in judge.findings} >= {"error-data", "schema", "exit-code"}, judge.findings)


async def review(play):
    """A file is reviewed; its finding is mended by the quick fix."""
    play.write("cart.go", CART)
    await play.script("""
turn
call report_finding {"path": "cart.go", "line": 7, "message": "the second is bad", "fix": {"old_string": "// second", "new_string": "// second is good"}}
turn
text One finding.
""")
    async with play.window() as w:
        uri = await w.open("cart.go")
        if w.capable("textDocument.codeAction"):
            started = await w.act(uri, "agentls: Review this file", at(0))
        else:
            started = await w.ed.execute("agentls.review", {"uri": uri})
        result = await w.end(started["run"])
        want(result["output"] == "One finding.", result)
        mark = await w.mark(uri, "the second is bad")
        if not w.capable("workspace.applyEdit"):
            # There is no way to edit, and none is offered.
            offered = [a["title"] for a in await w.ed.actions(uri, mark["range"], diagnostics=[mark])]
            want(not any("Fix this finding" in t or "Accept" in t for t in offered), offered)
            await w.refused(w.call("agent/proposal/accept", {"proposal": result["proposal"]}), "unsupported")
            return
        await w.act(uri, "agentls: Fix this finding: the second is bad", mark["range"], [mark])
        await w.until(lambda: "// second is good" in w.text(uri), "the fix")
        want(w.text(uri) == CART.replace("// second", "// second is good"), "the text is", w.text(uri))
        await w.marks(uri, lambda marks: not marks, "none are left")


async def pulled(play):
    """Diagnostics are pulled where the server offers that, first of a document, then of the workspace."""
    play.write("cart.go", CART)
    play.write("other.go", "package cart\n")
    await play.script("""
turn match="cart.go"
call report_finding {"path": "cart.go", "line": 7, "message": "the second is bad"}
turn match="cart.go"
text One.
turn match="other.go"
call report_finding {"path": "other.go", "line": 1, "message": "the other is bad"}
turn match="other.go"
text Two.
""")
    async with play.window() as w:
        uri, other = await w.open("cart.go"), w.ed.uri("other.go")
        started = await w.ed.execute("agentls.review", {"uri": uri})
        await w.end(started["run"])
        await w.end((await w.ed.execute("agentls.review", {"uri": other}))["run"])
        await w.mark(uri, "the second is bad")
        await w.mark(other, "the other is bad")
        report = await w.ed.ask("textDocument/diagnostic", uri)
        if report is None:
            return
        want([d["message"] for d in report["items"]] == ["the second is bad"], report)
        again = await w.ed.ask("textDocument/diagnostic", uri, previousResultId=report["resultId"])
        want(again["kind"] == "unchanged", again)
        await w.ed.change(uri, [(0, 0, 0, 0, "// new\n")])
        moved = await w.ed.ask("textDocument/diagnostic", uri, previousResultId=report["resultId"])
        want(moved["items"][0]["range"]["start"]["line"] == 7, moved)
        if (w.ed.server.get("diagnosticProvider") or {}).get("workspaceDiagnostics"):
            known = [{"uri": uri, "value": moved["resultId"]}]
            items = (await w.ed.request("workspace/diagnostic", {"previousResultIds": known}))["items"]
            want({i["uri"]: i["kind"] for i in items} == {uri: "unchanged", other: "full"}, items)


async def family(play):
    """Two children work beside each other; one is cancelled, the other goes on."""
    play.write("cart.go", CART)
    await play.script("""
turn match="Share the work."
call task {"subagent_type": "explore", "prompt": "Look for ever.", "description": "look for ever"}
call task {"subagent_type": "general", "prompt": "Mend the second.", "description": "mend the second"}
turn match="Look for ever." times=any
wait never
turn match="Mend the second."
wait free
call edit {"path": "cart.go", "old_string": "// second", "new_string": "// second is better"}
turn match="Mend the second."
text Mended.
turn match="Share the work."
expect result task status="cancelled"
expect result task changed: cart.go
text One looked in vain.
""")
    async with play.window() as w:
        uri = await w.open("cart.go")
        run = await w.run("Share the work.", context={"uri": uri})
        await play.reached("never")
        await play.reached("free")
        looks = lambda: [p for p in w.ed.progress.values() if p.values and "look for ever" in p.values[0]["title"] + p.values[0].get("message", "")]
        detail = await w.call("agent/session", {"session": w.session})
        tree = {r["title"]: r for r in detail["tree"]}
        want(tree["look for ever"]["parent"] == run and tree["mend the second"]["parent"] == run, detail)
        for ask in (w.ed.hints, w.ed.lenses):
            await ask(uri)  # the judge looks at them
        await w.ed.ask("textDocument/hover", uri, position={"line": 0, "character": 0})
        if w.capable("window.workDoneProgress"):
            await w.until(looks, "the progress of the child")
            w.wire.notify("window/workDoneProgress/cancel", {"token": looks()[0].token})
        else:
            await w.call("agent/cancel", {"run": tree["look for ever"]["id"]})
        await w.end(tree["look for ever"]["id"], "cancelled")
        await play.release("free")
        result = await w.end(run)
        want(len(result["children"]) == 2 and result["output"] == "One looked in vain.", result)
        await w.mark(uri, "proposed edit")
        if w.capable("window.workDoneProgress"):
            await w.until(lambda: len(w.ed.progress) == 3 and all(p.done for p in w.ed.progress.values()), "the end of all progress")
        else:
            await w.until(lambda: said(w, "coder completed, 2 children"), "a line in the log")
        await w.call("agent/transcript", {"run": run})


WRITE = """
turn
call write {"path": ".vscode/settings.json", "content": "{}\\n"}
turn
expect result write %s
text Said.
"""


async def asked(play):
    """A question for permission is answered where it is brought before the user."""
    await settings(play, '"settings.json"', {"decision": "allow", "scope": "once"}, "Allow once")


async def denied(play):
    """It is denied."""
    await settings(play, '"denied: the user said no"', {"decision": "deny", "scope": "once"}, "Deny")


async def settings(play, outcome, answer, title):
    play.write("cart.go", CART)
    await play.script(WRITE % outcome)
    async with play.window(answers((r"coder wants to write \.vscode/settings\.json", title))) as w:
        w.replies["agent/ask"] = lambda ask: answer
        uri = await w.open("cart.go")
        run = await w.run("Write settings.", context={"uri": uri})
        await w.end(run)
        want(bool(w.asked) == w.rich and bool(w.ed.answered) != w.rich, "asked by", w.asked, w.ed.answered)
        # A proposal that touches such a file is there, and nothing is left of the question.
        await w.marks(uri, lambda marks: not any("wants to write" in m["message"] for m in marks), "no question")
        want((await w.call("agent/asks", {}))["asks"] == [], "asks")


async def dismissed(play):
    """Nobody answers the prompt: the question is a diagnostic with actions."""
    play.write("cart.go", CART)
    await play.script(WRITE % '"settings.json"')
    async with play.window() as w:
        uri = await w.open("cart.go")
        run = await w.run("Write settings.", context={"uri": uri})
        mark = await w.mark(uri, "coder wants to write .vscode/settings.json")
        for title in ("Allow once", "Allow for this run", "Always allow", "Deny"):
            await w.action(uri, title + ": coder wants to write", mark["range"], [mark])
        await w.act(uri, "Allow for this run: coder wants to write", mark["range"], [mark])
        await w.end(run)
        await w.marks(uri, lambda marks: not any("wants to write" in m["message"] for m in marks), "no question")
        grants = (await w.call("agent/grants", {"session": w.session}))["grants"]
        want([g["scope"] for g in grants] == ["run"], grants)
        await w.call("agent/revoke", {"grant": grants[0]["id"]})


async def answered(play):
    """It is answered by a request."""
    play.write("cart.go", CART)
    await play.script(WRITE % '"settings.json"')
    async with play.window() as w:
        uri = await w.open("cart.go")
        run = await w.run("Write settings.", context={"uri": uri})
        await w.mark(uri, "coder wants to write .vscode/settings.json")
        ask = (await w.call("agent/asks", {"session": w.session}))["asks"][0]
        want(ask["run"] == run and ask["tool"] == "write", ask)
        await w.call("agent/ask/answer", {"ask": ask["id"], "decision": "allow", "scope": "project"})
        await w.refused(w.call("agent/ask/answer", {"ask": ask["id"], "decision": "deny"}), "not_found")
        await w.end(run)


QUESTION = """
turn
call question {"questions": [{"question": "Shall it stay?", "options": [{"label": "Yes"}, {"label": "No", "description": "callers break"}]}]}
turn
expect result question "→ No"
text Asked.
"""


async def question(play):
    """An agent wants to know something."""
    play.write("cart.go", CART)
    await play.script(QUESTION)
    async with play.window(answers(("Shall it stay", "No"))) as w:
        w.replies["agent/question"] = lambda q: {"answers": ["No"]}
        uri = await w.open("cart.go")
        run = await w.run("Ask.", context={"uri": uri})
        await w.end(run)
        want(bool(w.asked) == w.rich and bool(w.ed.answered) != w.rich, "asked by", w.asked, w.ed.answered)


async def unanswered(play):
    """Nobody answers the prompt: the question is a diagnostic with its answers as actions."""
    play.write("cart.go", CART)
    await play.script(QUESTION)
    async with play.window() as w:
        uri = await w.open("cart.go")
        run = await w.run("Ask.", context={"uri": uri})
        mark = await w.mark(uri, "Shall it stay?")
        await w.action(uri, "Yes: coder asks: Shall it stay?", mark["range"], [mark])
        await w.act(uri, "No: coder asks: Shall it stay?", mark["range"], [mark])
        await w.end(run)
        await w.marks(uri, lambda marks: not marks, "no question")


async def restart(play):
    """The server is killed in mid-run. The next one tells, and goes on where it is told to."""
    play.write("cart.go", CART)
    await play.script("""
turn match="Go."
wait stuck
text never
turn match="Go."
expect last Go on with the task where you left off.
text Done.
""")
    async with play.window() as w:
        await w.open("cart.go")
        run = await w.run("Go.")
        first = w.session
        await play.reached("stuck")
        await w.call("agent/subscribe", {"session": first})  # which stores what there is
        await w.kill()
    async with play.window(answers(("was interrupted", "Resume"))) as w:
        uri = await w.open("cart.go")
        await w.until(lambda: said(w, "1 interrupted run"), "the message")
        await w.act(uri, "agentls: Resume coder: Go.", at(0))
        await w.until(lambda: said(w, "coder completed") or any("completed" in p.values[-1].get("message", "") for p in w.ed.progress.values() if p.done), "the end")
        detail = await w.call("agent/session", {"session": first})
        want({r["id"]: r["status"] for r in detail["tree"]}[run] == "interrupted", detail)
        want((await w.call("agent/wait", {"run": run}))["status"] == "interrupted", "the status of the killed run")
        want(len((await w.call("agent/sessions", {}))["sessions"]) == 2, "the number of sessions")


async def quitting(play):
    """The editor quits in mid-run, properly."""
    await play.script("""
turn
wait stuck
text never
""")
    async with play.window() as w:
        await w.run("Go.")
        await play.reached("stuck")
    want(w.wire.process.returncode == 0, "the exit code is", w.wire.process.returncode)


async def leaving(play):
    """The editor exits without a shutdown: the code is 1, which the judge looks at."""
    await play.script("")
    async with play.window(polite=False) as w:
        await w.call("agent/list", {})
    want(w.wire.process.returncode == 1, "the exit code is", w.wire.process.returncode)


async def refusing(play):
    """What comes before initialize, twice, or after shutdown is refused; what nobody knows, too."""
    await play.script("")
    async with play.window() as w:
        await w.wrong(-32600, "initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        await w.wrong(-32601, "agent/nonsense", {})
        await w.wrong(-32602, "workspace/executeCommand", {"command": "agentls.nonsense"})
        await w.wrong(-32602, "textDocument/codeAction", {"textDocument": 5})
        await w.ed.request("shutdown")
        await w.wrong(-32600, "agent/list", {})
        w.down = True


ALL = [judging, review, pulled, family, asked, denied, dismissed, answered, question, unanswered, restart, quitting, leaving, refusing]
