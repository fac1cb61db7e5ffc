"""Stories about what an editor lends, and about following sessions."""
import asyncio

from runs import CART
from window import ResponseError, want


async def lent(play):
    """The editor lends its model, its diagnostics and its symbols."""
    play.write("main.py", "def gräß():\n    return 1\n\nx = \"ä\" + gräß()\n")
    await play.script("")
    async with play.window() as w:
        uri = await w.open("main.py")
        if not w.rich:
            await w.refused(w.call("agent/model/lend", {"models": []}), "unsupported")
            return
        where = {"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 10}}
        w.replies["agent/diagnostics"] = lambda p: {"documents": [{"uri": p["uri"], "version": 1, "diagnostics": [
            {"range": where, "severity": "warning", "message": "not what it says", "source": "pyls", "code": "W1"}]}]}
        w.replies["agent/symbols"] = lambda p: {"symbols": [{"uri": uri, "range": where, "name": "greet", "kind": "function"}]}
        calls = iter([("diagnostics", {"path": "main.py"}), ("symbols", {"kind": "definition", "path": "main.py", "line": 4, "column": 12}), ("symbols", {"kind": "references", "path": "main.py", "line": 1, "column": 5}),
                      ("symbols", {"kind": "document", "path": "main.py"}), ("symbols", {"kind": "workspace", "name": "greet"})])

        async def generate(p):
            call, token = next(calls, None), p["partialResultToken"]
            parts = [{"kind": "reasoning", "text": "Hm."}, {"kind": "text", "text": "I look." if call else "I have looked."}]
            for part in parts:
                w.wire.notify("$/progress", {"token": token, "value": part})
            if call:
                w.wire.notify("$/progress", {"token": token, "value": {"kind": "call", "name": call[0]}})
                parts.append({"kind": "call", "name": call[0], "arguments": call[1]})
            return {"message": {"role": "assistant", "parts": parts}, "stop": "calls" if call else "end", "usage": {"inputTokens": 10, "outputTokens": 2, "cachedTokens": 0}}

        w.replies["agent/model/generate"] = generate
        await w.call("agent/subscribe", {})
        await w.call("agent/model/lend", {"models": [{"id": "small", "title": "Small", "contextTokens": 32000}, {"id": "large", "noCalls": True}]})
        models = await w.call("agent/models", {"model": "editor/small"})
        want(models["default"] == "editor/small", models)
        run = await w.run("Look.", model="editor/small", context={"uri": uri})
        result = await w.end(run)
        want(result["output"] == "I have looked." and result["usage"]["inputTokens"] == 60, result)
        want([c["status"] for c in result["toolCalls"]] == ["ok"] * 5, result)
        asked = [m for m, _ in w.asked]
        want(asked.count("agent/model/generate") == 6 and "agent/diagnostics" in asked and asked.count("agent/symbols") >= 3, asked)
        await w.event("TextDelta", run=run)
        await w.event("ReasoningDelta", run=run)
        # The model fails, for now and for good.
        failures = iter([{"kind": "rate_limit", "detail": "slow down"}, {"kind": "auth", "detail": "the user said no", "hint": "ask again"}])

        def fail(p):
            error = ResponseError({"code": -32803, "message": "it failed"})
            error.data = next(failures)
            raise error

        w.replies["agent/model/generate"] = fail
        run = await w.run("Look again.", model="editor/small")
        await w.event("RetryScheduled", run=run)
        result = await w.end(run, "failed")
        # A run that is cancelled takes its request back, and what comes then does no harm.
        answer = asyncio.Event()

        async def slow(p):
            await answer.wait()
            return {"message": {"role": "assistant", "parts": [{"kind": "text", "text": "too late"}]}, "stop": "end"}

        w.replies["agent/model/generate"] = slow
        before = len(w.asked)
        run = await w.run("Think.", model="editor/small")
        await w.until(lambda: len(w.asked) > before, "the request to the model")
        await w.call("agent/cancel", {"run": run})
        await w.end(run, "cancelled")
        answer.set()
        await w.call("agent/model/lend", {"models": []})
        await w.refused(w.call("agent/run", {"prompt": "x", "model": "editor"}), "no_model")


async def following(play):
    """A session is followed from its beginning, from a number on, and from a number that there never was."""
    play.write("cart.go", CART)
    await play.script("""
turn match="Do something."
text Well.
call todo {"items": [{"text": "look", "state": "in_progress"}]}
call report_finding {"path": "cart.go", "line": 3, "message": "it is bad"}
turn match="Do something."
call edit {"path": "cart.go", "old_string": "// second", "new_string": "// second is better"}
call write {"path": ".vscode/settings.json", "content": "{}\\n"}
turn match="Do something."
text Done.
turn match="Do more."
text More.
""")
    async with play.window() as w:
        uri = await w.open("cart.go")
        snapshot = await w.call("agent/subscribe", {})
        want("reset" not in snapshot and len(snapshot["sessions"]) == 1 and snapshot["sessions"][0]["tree"] == [], snapshot)
        w.replies["agent/ask"] = lambda ask: {"decision": "allow", "scope": "run"}
        run = await w.run("Do something.", context={"uri": uri})
        if not w.rich:
            ask = (await w.event("AskOpened", run=run))["ask"]
            await w.call("agent/ask/answer", {"ask": ask, "decision": "allow", "scope": "run"})
        await w.event("RunFinished", run=run)
        kinds = {e["type"] for e in w.events}
        missing = {"RunCreated", "RunStatusChanged", "TurnStarted", "MessageCommitted", "ToolCallStarted", "ToolCallFinished", "TextDelta", "AskOpened", "AskResolved",
                   "FindingReported", "ProposalChanged", "TodoChanged", "RunFinished"} - kinds
        want(not missing, "no such events:", missing)
        stored = [e["seq"] for e in w.events if e["type"] not in ("TextDelta", "ReasoningDelta", "RunProgress", "ToolCallProgress")]
        want(stored == list(range(snapshot["sessions"][0]["seq"] + 1, stored[-1] + 1)), "the numbers are", stored)
        # Again from a number on: what follows it comes once more, and nothing else is new.
        w.events.clear()
        again = await w.call("agent/subscribe", {"session": w.session, "since": stored[3]})
        want("reset" not in again, again)
        detail = again["sessions"][0]
        want(len(detail["findings"]) == 1 and len(detail["proposals"]) == 1 and len(detail["tree"]) == 1 and detail["asks"] == [], detail)
        await w.event("RunFinished", run=run)
        want([e["seq"] for e in w.events] == stored[4:], [e["seq"] for e in w.events], stored)
        # From one that was never given out.
        w.events.clear()
        reset = await w.call("agent/subscribe", {"session": w.session, "since": 1000000})
        want(reset.get("reset") is True, reset)
        run = await w.run("Do more.", session=w.session)
        await w.event("RunFinished", run=run)
        want(w.events[0]["seq"] == reset["sessions"][0]["seq"] + 1 and w.events[0]["type"] == "RunCreated", w.events[0])
        report = await w.call("agent/usage", {"by": "run", "session": w.session})
        want(len(report["rows"]) == 2, report)


ALL = [lent, following]
