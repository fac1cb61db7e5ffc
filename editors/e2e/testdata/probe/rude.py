"""Stories about clients without manners: nothing hangs, nothing is lost, and nothing is done twice."""
from runs import CART
from window import answers, want

IMPROVE = """
turn
call question {"questions": [{"question": "Shall it stay?", "options": [{"label": "Yes"}, {"label": "No"}]}]}
turn
expect result question "→ Yes"
call read {"path": "cart.go"}
call diagnostics {"path": "cart.go"}
turn
call edit {"path": "cart.go", "old_string": "// first", "new_string": "// first is better"}
call write {"path": "new.txt", "content": "new\\n"}
turn
text Improved.
"""
BETTER = CART.replace("first", "first is better", 1)


async def bare(play):
    """A client that announces nothing at all: its review comes as diagnostics, and that is all."""
    play.write("cart.go", CART)
    await play.script("""
turn
call report_finding {"path": "cart.go", "line": 7, "message": "the second is bad"}
turn
text One finding.
""")
    async with play.window(capabilities={}) as w:
        uri = await w.open("cart.go")
        started = await w.ed.execute("agentls.review", {"uri": uri})
        await w.mark(uri, "the second is bad")
        await w.end(started["run"])
        await w.ed.change(uri, [(6, 0, 7, 0, "")])
        await w.marks(uri, lambda marks: not marks, "the finding goes with its line")
        want(not w.judge.theirs, "asked for", w.judge.theirs)


async def improved(play, w):
    """Has a run ask something that is answered by a request, and then propose edits. Returns the document, the run and the proposal."""
    uri = await w.open("cart.go")
    run = await w.run("Improve it.", context={"uri": uri})
    await w.mark(uri, "Shall it stay?")
    asks = (await w.call("agent/asks", {}))["asks"]
    await w.call("agent/ask/answer", {"ask": asks[0]["id"], "decision": "allow", "answers": ["Yes"]})
    result = await w.end(run)
    want(result["output"] == "Improved.", result)
    return uri, run, result["proposal"]


async def unserved(play):
    """It answers each request of the server's that there is no such method."""
    await empty(play, {"error": {"code": -32601, "message": "no such method"}})


async def nulls(play):
    """It answers each of them with null."""
    await empty(play, {"result": None})


async def empty(play, refusal):
    play.write("cart.go", CART)
    await play.script(IMPROVE)
    async with play.window(refusal=refusal) as w:
        uri, run, proposal = await improved(play, w)
        # No edit was made, and nobody says so.
        accept = w.call("agent/proposal/accept", {"proposal": proposal})
        if w.capable("workspace.applyEdit"):
            done = await accept
            want(done["applied"] == [] and len(done["failed"]) == 2 and all("the editor" in f["reason"] for f in done["failed"]), done)
        else:
            await w.refused(accept, "unsupported")
        want(w.text(uri) == CART, w.text(uri))
        want((await w.proposal())["state"] == "open", "the proposal is open")
        await w.call("agent/proposal/diff", {"proposal": proposal})
        await w.refused(w.ed.execute("agentls.delegate", {"uri": uri}), "dismissed")
        if w.rich:
            lent = await w.run("Think.", model="editor")
            result = await w.end(lent, "failed")
            want(result["error"]["kind"] in ("not_found", "protocol"), result)
        await w.call("agent/transcript", {"run": run})
        await w.call("agent/proposal/reject", {"proposal": proposal})
        want((await w.call("agent/proposals", {}))["proposals"] == [], "proposals")


async def late(play):
    """It answers what concerns a run when the run is over, and twice. It applies an edit that nobody waits for any more."""
    play.write("cart.go", CART)
    await play.script(IMPROVE)
    held = []

    def how(wire, message, answer):
        if message["method"] in ("workspace/configuration", "client/registerCapability"):
            return wire.send(answer)
        held.append((message, answer))

    async with play.window(answers((".", "Yes")), how=how) as w:
        w.replies["agent/question"] = lambda q: {"answers": ["No"]}
        w.replies["agent/ask"] = lambda ask: {"decision": "deny"}
        # The one request that a run waits for, for ten seconds: the editor's diagnostics.
        w.replies["agent/diagnostics"] = lambda p: {"documents": []}
        uri = await w.open("cart.go")
        run = await w.run("Improve it.", context={"uri": uri})
        await w.until(lambda: any(m["method"] in ("agent/question", "window/showMessageRequest") for m, _ in held), "the question")
        asks = (await w.call("agent/asks", {}))["asks"]
        await w.call("agent/ask/answer", {"ask": asks[0]["id"], "decision": "allow", "answers": ["Yes"]})
        if w.rich:
            await w.until(lambda: any(m["method"] == "agent/diagnostics" for m, _ in held), "the request for diagnostics")
            for message, answer in held:
                if message["method"] == "agent/diagnostics":
                    wire_answer(w, answer)
        result = await w.end(run)
        for message, answer in held:
            for _ in range(2):
                wire_answer(w, answer)
        held.clear()
        if not w.capable("workspace.applyEdit"):
            return
        _, hunks = await w.hunks(uri)
        # The acceptance is cancelled while its edit is on its way; then the edit is made.
        with w.judge.on_purpose():
            identity, accepted = w.wire.send_request(
                "agent/proposal/accept", {"proposal": result["proposal"], "hunks": [hunks[0]["id"]]},
            )
        await w.until(lambda: any(m["method"] == "workspace/applyEdit" for m, _ in held), "the edit")
        w.wire.cancel(identity)
        await w.gone(accepted)
        for message, answer in held:
            for _ in range(2):
                wire_answer(w, answer)
        # What was made counts as made once: nothing is left to accept in that document.
        await w.marks(uri, lambda marks: not any("first is better" in m["message"] for m in marks), "the hunk is made")
        want(w.text(uri) == BETTER, w.text(uri))


def wire_answer(w, answer):
    """Sends an answer, which may be none any more."""
    with w.judge.on_purpose():
        w.wire.send(answer)


async def twice(play):
    """Each of its answers comes twice."""
    play.write("cart.go", CART)
    await play.script(IMPROVE)

    def how(wire, message, answer):
        wire.send(answer)
        with wire.validator.on_purpose():
            wire.send(answer)

    async with play.window(answers((".", "Yes")), how=how) as w:
        w.replies["agent/question"] = lambda q: {"answers": ["Yes"]}
        w.replies["agent/diagnostics"] = lambda p: {"documents": []}
        uri = await w.open("cart.go")
        run = await w.run("Improve it.", context={"uri": uri})
        result = await w.end(run)
        if not w.capable("workspace.applyEdit"):
            return
        done = await w.call("agent/proposal/accept", {"proposal": result["proposal"]})
        want(not done["failed"] and w.text(uri) == BETTER, done)
        done = await w.call("agent/undo", {"run": run})
        want(not done["failed"] and w.text(uri) == CART, done)


ALL = [bare, unserved, nulls, late, twice]
