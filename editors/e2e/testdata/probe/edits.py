"""Stories about proposed edits, files, and the documents that the server has the text of."""
from runs import CART
from window import at, want

IMPROVE = """
turn match="Improve the comments."
call read {"path": "cart.go"}
turn match="Improve the comments."
call edit {"path": "cart.go", "old_string": "// first", "new_string": "// first is better"}
call edit {"path": "cart.go", "old_string": "// second", "new_string": "// second is better"}
call edit {"path": "cart.go", "old_string": "// third", "new_string": "// third is better"}
turn match="Improve the comments."
text The comments are better.
"""


async def improved(play, w, script=IMPROVE):
    """Has the comments improved. Returns the document and the run."""
    play.write("cart.go", CART)
    await play.script(script)
    uri = await w.open("cart.go")
    run = await w.run("Improve the comments.", context={"uri": uri})
    await w.end(run)
    await w.marks(uri, lambda marks: len(marks) == 3, "three hunks")
    return uri, run


def line_of(w, uri, text):
    return next(i for i, line in enumerate(w.text(uri).split("\n")) if text in line)


async def pieces(play):
    """One hunk is accepted, one rejected, one typed into and overwritten; then all of it is undone."""
    async with play.window() as w:
        uri, run = await improved(play, w)
        proposal, hunks = await w.hunks(uri)
        want([h["before"] for h in hunks] == ["// first\n", "// second\n", "// third\n"], hunks)
        if not w.capable("workspace.applyEdit"):
            await w.refused(w.call("agent/proposal/accept", {"proposal": proposal}), "unsupported")
            await w.act(uri, "agentls: Reject this edit", at(6))
            await w.marks(uri, lambda marks: len(marks) == 2, "two hunks are left")
            await w.refused(w.call("agent/undo", {"run": run}), "not_found", "unsupported")
            result = await w.call("agent/proposal/reject", {"proposal": proposal})
            want(len(result["rejected"]) == 2, result)
            await w.marks(uri, lambda marks: not marks, "none is left")
            want((await w.call("agent/proposals", {}))["proposals"] == [], "proposals")
            return
        await w.act(uri, "agentls: Accept this edit", at(2))
        want("// first is better\n" in w.text(uri), w.text(uri))
        await w.act(uri, "agentls: Reject this edit", at(6))
        await w.marks(uri, lambda marks: len(marks) == 1, "one hunk is left")
        # The user types: above, and the hunk follows; in it, and it collides.
        await w.ed.change(uri, [(0, 0, 0, 0, "// typed: ä😀\n"), (1, 0, 1, 0, "/* ü */ ")])
        _, moved = await w.hunks(uri)
        want([h["range"]["start"]["line"] for h in moved if h["state"] == "open"] == [11], moved)
        await w.ed.change(uri, [(11, 3, 11, 8, "my third")])
        await w.mark(uri, "conflict")
        result = await w.call("agent/proposal/accept", {"proposal": proposal, "hunks": [hunks[2]["id"]]})
        want(result["applied"] == [] and "conflict" in result["failed"][0]["reason"], result)
        diff = await w.call("agent/proposal/diff", {"proposal": proposal, "hunks": [hunks[2]["id"]]})
        want("// my third" in diff["conflicts"] and "// third is better" in diff["conflicts"], diff)
        await w.act(uri, "agentls: Replace these lines by the text of coder", at(11))
        want("// third is better\n" in w.text(uri), w.text(uri))
        await w.act(uri, "agentls: Undo this edit of coder", at(line_of(w, uri, "// first")))
        want("// first\n" in w.text(uri), w.text(uri))
        await w.ed.save(uri)
        result = await w.call("agent/undo", {"run": run})
        want(len(result["applied"]) == 1 and not result["failed"], result)
        want(w.text(uri) == "// typed: ä😀\n/* ü */ " + CART.replace("// third", "// my third"), w.text(uri))
        await w.refused(w.call("agent/undo", {"run": run}), "not_found")


async def race(play):
    """The user types while an accepted edit is on its way. Nothing that was typed is lost, and the edit is made once or not at all."""
    async with play.window() as w:
        if not w.capable("workspace.applyEdit"):
            return await play.script("")
        apply, typed = w.wire.on_request["workspace/applyEdit"], []

        async def late(params):
            if not typed:
                typed.append(True)
                await w.ed.change(uri, [(0, 0, 0, 0, "// typed\n")])
            return await apply(params)

        w.wire.on_request["workspace/applyEdit"] = late
        uri, _ = await improved(play, w)
        proposal, _ = await w.hunks(uri)
        await w.call("agent/proposal/accept", {"proposal": proposal})
        want(typed and w.text(uri).startswith("// typed\npackage cart\n"), w.text(uri))
        if "// first is better" not in w.text(uri):  # it is open again
            await w.call("agent/proposal/accept", {"proposal": proposal})
        want(
            w.text(uri) == "// typed\n" + CART.replace("first", "first is better").replace("second", "second is better").replace("third", "third is better"),
            w.text(uri),
        )
        await w.marks(uri, lambda marks: not marks, "none is left")


async def files(play):
    """A new file, a rename and a deletion, accepted together and undone."""
    play.write("cart.go", CART)
    play.write("old.go", "package cart\n\n// old\n")
    play.write("gone.go", "package cart\n\n// gone\n")
    await play.script("""
turn
call read {"path": "old.go"}
call read {"path": "gone.go"}
turn
call write {"path": "notes/new.txt", "content": "a new file: ä\\n"}
call patch {"patch": "*** Begin Patch\\n*** Update File: old.go\\n*** Move to: sub/moved.go\\n@@\\n-package cart\\n+package sub\\n*** Delete File: gone.go\\n*** End Patch\\n"}
turn
text Moved.
""")
    async with play.window() as w:
        uri, old = await w.open("cart.go"), await w.open("old.go")
        run = await w.run("Move files.", context={"uri": uri})
        await w.end(run)
        proposal = await w.proposal()
        changes = {f["uri"].removeprefix(w.ed.uri("") + "/"): f.get("change") for f in proposal["files"]}
        want(changes == {"notes/new.txt": "created", "old.go": "renamed", "gone.go": "deleted"}, changes)
        await w.mark(uri, "proposed new file notes/new.txt")
        await w.mark(old, "proposed rename of this file to sub/moved.go")
        await w.call("agent/proposal/diff", {"proposal": proposal["id"]})
        if not w.capable("workspace.workspaceEdit.resourceOperations"):
            await w.refused(w.call("agent/proposal/accept", {"proposal": proposal["id"]}), "unsupported")
            return
        # The editor answers the request before it has seen all of the file's new life; so both are waited for.
        result = await w.call("agent/proposal/accept", {"proposal": proposal["id"]})
        want(not result["failed"], result)
        have = lambda path: (play.root / path).exists()
        want(
            have("notes/new.txt") and have("sub/moved.go") and not have("old.go") and not have("gone.go"),
            list(play.root.rglob("*")),
        )
        want(w.text("notes/new.txt").rstrip("\n") == "a new file: ä", repr(w.text("notes/new.txt")))
        want(w.text("sub/moved.go") == "package sub\n\n// old\n", w.text("sub/moved.go"))
        await w.marks(uri, lambda marks: not marks, "none is left")
        result = await w.call("agent/undo", {"run": run})
        want(not result["failed"], result)
        want(not have("notes/new.txt") and not have("sub/moved.go") and have("old.go"), list(play.root.rglob("*")))
        want(
            w.text("old.go") == "package cart\n\n// old\n" and w.text("gone.go") == "package cart\n\n// gone\n",
            w.text("gone.go"),
        )


async def documents(play):
    """A diff and a conversation are documents of the server's own where the client takes such, else read-only files."""
    async with play.window() as w:
        uri, run = await improved(play, w)
        proposal, hunks = await w.hunks(uri)
        virtual, shows = w.capable("workspace.textDocumentContent"), w.capable("window.showDocument")

        async def shown(kind):
            """What the client is shown, where it does not know the custom protocol."""
            if w.rich or not shows:
                return None
            await w.until(lambda: any(kind in s["uri"] for s in w.ed.shown), f"the showing of {kind}")
            return next(s["uri"] for s in w.ed.shown if kind in s["uri"])

        diff = await w.call("agent/proposal/diff", {"proposal": proposal, "hunks": [hunks[0]["id"]]})
        want("+// first is better" in diff["diff"], diff)
        for kind, text in (("proposals", "+// first is better"), ("transcripts", "The comments are better.")):
            if kind == "transcripts":
                await w.call("agent/transcript", {"run": run})
            place = await shown(kind)
            if place and not virtual:
                want(text in w.text(place), place, w.text(place))
            if not virtual:
                continue
            place = place or (diff["uri"] if kind == "proposals" else f"agentls:/transcripts/{run}.md")
            content = await w.ed.request("workspace/textDocumentContent", {"uri": place})
            want(text in content["text"], content)
        if virtual:
            before = w.ed.refreshes["textDocumentContent"]
            await w.call("agent/proposal/reject", {"proposal": proposal, "hunks": [hunks[0]["id"]]})
            await w.until(lambda: w.ed.refreshes["textDocumentContent"] > before, "the refresh of the diff")
            content = await w.ed.request("workspace/textDocumentContent", {"uri": diff["uri"]})
            want("first is better" not in content["text"], content)
            await w.refused(
                w.ed.request("workspace/textDocumentContent", {"uri": "agentls:/proposals/p0.diff"}), "not_found",
            )
            await w.refused(
                w.ed.request("workspace/textDocumentContent", {"uri": "agentls:/nothing"}), "invalid_params",
            )
            await w.refused(
                w.ed.request("workspace/textDocumentContent", {"uri": "agentls:/transcripts/r0.md"}), "not_found",
            )


async def authored(play):
    """A definition of an agent is written with completion, hover, an outline, and a quick fix for a name that is wrong."""
    text = "---\nname: tester2\ndescription: Tests.\ncategory: [subagent]\ntools: [raed]\n---\nYou test: ä.\n"
    play.write(".agentls/agents/tester2.md", text)
    await play.script("")
    async with play.window(trusted=True) as w:
        uri = await w.open(".agentls/agents/tester2.md")
        mark = await w.mark(uri, "raed")
        await w.ed.symbols(uri)
        for position in ({"line": 3, "character": 9}, {"line": 1, "character": 0}):
            await w.ed.ask("textDocument/completion", uri, position=position)
            await w.ed.ask("textDocument/hover", uri, position=position)
        if w.capable("textDocument.codeAction.codeActionLiteralSupport"):
            await w.act(uri, "agentls: Replace", mark["range"], [mark])
            want("tools: [read]" in w.text(uri), w.text(uri))
            await w.marks(uri, lambda marks: not marks, "no problem")
        await w.ed.save(uri)


ALL = [pieces, race, files, documents, authored]
