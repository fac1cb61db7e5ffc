"""A window: one editor of the probe's on one server, and what stories need to drive both."""
import asyncio
import contextlib
import copy
import json
import os
import re
import shutil
import urllib.error
import urllib.request
from pathlib import Path

from editor import Editor, answers
from judge import Judge, as_shown, command_of
from lspwire import ABSENT, Closed, Connection, ResponseError
from lsptext import path_of
from metamodel import MetaModel

# What a wait may take, in seconds. Nothing but a fault waits so long.
PATIENCE = float(os.environ.get("AGENTLS_PATIENCE", "120"))
EVERYTHING = {"version": "0.1.0", "asks": True, "questions": True, "models": True, "diagnostics": True, "symbols": True}


class Wrong(AssertionError):
    """The server did not do what a story waits for."""


def want(condition, *what):
    """Fails the story where the condition does not hold."""
    if not condition:
        raise Wrong(" ".join(str(w) for w in what))


class Stage:
    """What all stories of one profile share. models is the address of the scripted models."""

    def __init__(self, server, profile, rich, home, models, schemas):
        self.server, self.name, self.rich, self.home, self.models, self.schemas = server, profile["name"], rich, home, models, schemas
        self.profile, self.model = profile, MetaModel()
        self.judges = []  # (story, judge)

    def capable(self, path):
        """Whether the profile announces something."""
        tree = self.profile["capabilities"]
        for name in path.split("."):
            tree = tree.get(name) if isinstance(tree, dict) else None
        return tree not in (None, False)

    async def ask(self, how, path, body=None):
        """Speaks to the scripted models. Returns the text of the answer."""
        def speak():
            request = urllib.request.Request(
                f"{self.models}/{path}", data=None if body is None else body.encode(), method=how,
            )
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                    return answer.read().decode()
            except urllib.error.HTTPError as refused:
                raise Wrong(f"{how} {path}: {refused.read().decode()}") from None
        return await asyncio.to_thread(speak)


class Play:
    """One story: a folder, a state folder, and a model that answers as the script says."""

    def __init__(self, stage, name):
        self.stage, self.name = stage, name
        self.home = stage.home / name
        self.root = self.home / "workspace"
        self.root.mkdir(parents=True)
        self.trace = open(self.home / "traffic.jsonl", "w", buffering=1)

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, newline="")

    async def script(self, text):
        await self.stage.ask("PUT", self.name, text)

    async def release(self, gate):
        await self.stage.ask("POST", f"{self.name}/release/{gate}", "")

    async def reached(self, gate):
        await self.stage.ask("GET", f"{self.name}/reached/{gate}")

    async def check(self):
        """Every turn of the script was taken, and each request was as it should be."""
        await self.stage.ask("GET", f"{self.name}/check")

    @contextlib.asynccontextmanager
    async def window(
        self, policy=None, capabilities=None, trusted=False, polite=True, handlers=None, how=None, refusal=None,
        config=None,
    ):
        """A server, initialized by an editor, which says whether it trusts the folder unless trusted is None. At the end it is shut down, where it is still there. handlers answer requests of the server's by method."""
        stage = self.stage
        profile = copy.deepcopy(stage.profile)
        if capabilities is not None:
            profile["capabilities"] = capabilities
        elif stage.rich:
            profile["capabilities"].setdefault("experimental", {})["agentls"] = EVERYTHING
        folder = self.home / "config" / "agentls"
        folder.mkdir(parents=True, exist_ok=True)
        if config is not None:
            (folder / "config.toml").write_text(config)
        env = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        env |= {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / "config"), "XDG_STATE_HOME": str(self.home / "state"),
                "XDG_CACHE_HOME": str(self.home / "cache"), "XDG_RUNTIME_DIR": str(self.home), "AGENTLS_E2E": os.environ.get("AGENTLS_E2E", ""),
                "ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": f"{stage.models}/{self.name}"}
        judge = Judge(stage.model, stage.schemas)
        stage.judges.append((self.name, judge))
        wire = await Wire.start([stage.server, "serve"], judge, self.trace, cwd=str(self.root), env=env)
        if how:
            wire.how = how
        wire.refusal = refusal
        editor = Fake(wire, profile, self.root, policy=policy or answers())
        editor.late = not stage.rich
        w = Window(self, editor, "agentls" in profile["capabilities"].get("experimental", {}))
        w.wire.on_request.update(handlers or {})
        try:
            await asyncio.wait_for(
                editor.initialize(**({} if trusted is None else {"initializationOptions": {"trusted": trusted}})),
                PATIENCE,
            )
            yield w
        finally:
            if not w.killed:
                await wire.close(polite=polite and not w.down, timeout=PATIENCE)


class Fake(Editor):
    """The probe's editor, with Neovim's idea of an empty file. It closes a document before it moves or deletes the file, or after that where late is set."""

    late = False

    async def apply(self, edit):
        return await super().apply(as_shown(edit, self.profile["clientInfo"]["name"]))

    async def _do_rename(self, step):
        """The file moves before its document does, and what an editor tells of it comes last, as in VS Code."""
        if not self.late:
            return await super()._do_rename(step)
        document = self.documents.get(step.uri)
        target = Path(path_of(step.new_uri))
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(path_of(step.uri), target)
        if document:
            await self.close(step.uri)
            await self.open(step.new_uri, document.text, document.language)
        self._told("didRename", {"files": [{"oldUri": step.uri, "newUri": step.new_uri}]})
        self._watched([(step.uri, 3), (step.new_uri, 1)])

    async def _do_delete(self, step):
        """The file goes before its document does, as in VS Code and Neovim."""
        if not self.late:
            return await super()._do_delete(step)
        path = Path(path_of(step.uri))
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        if step.uri in self.documents:
            await self.close(step.uri)
        self._told("didDelete", {"files": [{"uri": step.uri}]})
        self._watched([(step.uri, 3)])


class Wire(Connection):
    """A connection whose answers carry the data of errors. how says in which way they are sent; refusal, where there is one, takes the place of all answers."""

    refusal = None

    @staticmethod
    def how(wire, message, answer):
        wire.send(answer)

    def send(self, message):
        """Sends a message unless the server has gone."""
        if self.process.returncode is None and not self.process.stdin.is_closing():
            self._send(message)

    async def _answer(self, message):
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if self.refusal:
            with self.validator.on_purpose():
                return self.send(answer | self.refusal)
        try:
            handler = self.on_request.get(message["method"])
            if handler is None:
                raise ResponseError({"code": -32601, "message": "no such request"})
            answer["result"] = await handler(message.get("params"))
        except ResponseError as error:
            answer["error"] = {"code": error.code, "message": str(error)} | ({"data": error.data} if error.data else {})
        self.how(self, message, answer)


class Window:
    """An editor's window, its server, and what both have said."""

    def __init__(self, play, editor, rich):
        self.play, self.ed, self.rich, self.killed, self.down = play, editor, rich, False, False
        self.asked = []  # requests of the custom protocol that the server made: (method, params)
        self.replies = {}  # a function of the params for each of these methods
        self.events = []
        for method in ("agent/ask", "agent/question", "agent/model/generate", "agent/diagnostics", "agent/symbols"):
            self.wire.on_request[method] = self._replier(method)
        editor.wire.on_notification = self._notified

    @property
    def wire(self):
        return self.ed.wire

    @property
    def judge(self):
        return self.ed.validator

    def capable(self, path):
        return self.judge.announced(path)

    def _replier(self, method):
        async def reply(params):
            self.asked.append((method, params))
            self.ed._wake()
            found = self.replies.get(method)
            value = found(params) if found else None
            return await value if asyncio.iscoroutine(value) else value
        return reply

    def _notified(self, method, params):
        if method == "agent/event":
            self.events.append(params)
        self.ed._on_notification(method, params)

    def code_of(self, kind):
        """The code of a kind of errors."""
        return self.judge.agents.codes.get(kind)

    async def within(self, future):
        """Waits for an answer."""
        return await asyncio.wait_for(future, PATIENCE)

    async def gone(self, future):
        """Waits for the answer to a request that was cancelled, which may be any."""
        with contextlib.suppress(ResponseError):
            await self.within(future)

    async def until(self, predicate, what):
        """Waits for something that the server says."""
        try:
            return await self.ed.until(predicate, PATIENCE)
        except TimeoutError:
            raise Wrong(f"waited in vain for {what}") from None

    async def open(self, path, text=None):
        """Opens a document."""
        return await self.ed.open(path, text)

    async def call(self, method, params=None):
        """A request of the custom protocol: as such where the client speaks it, else as a command."""
        if self.rich:
            return await self.ed.request(method, params, PATIENCE) if params is not None else await self.ed.request(method, timeout=PATIENCE)
        return await self.ed.execute(
            command_of(method), *([params] if params is not None else []), token=False, timeout=PATIENCE,
        )

    async def refused(self, what, *kinds):
        """Awaits a request that has to fail with one of the documented kinds. Returns the data of the error."""
        try:
            result = await what
        except ResponseError as error:
            want(
                isinstance(error.data, dict) and error.data.get("kind") in kinds, "refused as", error, error.data,
                "and not as", kinds,
            )
            want(error.code == self.code_of(error.data["kind"]), "the code of", error.data, "is", error.code)
            return error.data
        raise Wrong(f"not refused: {json.dumps(result)[:200]}")

    async def wrong(self, code, method, params=ABSENT):
        """Sends a request that has to fail with a code. Returns the data of the error."""
        with self.judge.on_purpose():
            _, answer = self.wire.send_request(method, params)
        try:
            result = await asyncio.wait_for(answer, PATIENCE)
        except ResponseError as error:
            want(
                error.code == code,
                f"{method} {json.dumps(params) if params is not ABSENT else ''}: the code is {error.code} and not {code}: {error}",
            )
            return error.data
        raise Wrong(f"{method} {json.dumps(params)}: not refused: {json.dumps(result)[:200]}")

    async def run(self, prompt, **more):
        """Starts a run. Returns its id."""
        started = await self.call("agent/run", {"prompt": prompt, **more})
        self.session = started["session"]
        return started["run"]

    async def end(self, run, status="completed"):
        """Waits for the end of a run. Returns its result."""
        result = await self.call("agent/wait", {"run": run})
        want(result["status"] == status, f"the run ended as {json.dumps(result)}, not as {status}")
        return result

    async def event(self, kind, **members):
        """Waits for an event."""
        fits = lambda e: e["type"] == kind and all(e.get(k) == v for k, v in members.items())
        await self.until(lambda: any(map(fits, self.events)), f"the event {kind} {members}")
        return next(filter(fits, self.events))

    async def marks(self, path, fits, what):
        """Waits until the published diagnostics of a document are as wanted. Returns them."""
        uri = self.ed.uri(path)
        now = lambda: self.ed.diagnostics.get(uri, {}).get("diagnostics", [])
        await self.until(lambda: fits(now()), f"diagnostics of {path}: {what}; they are {[d['message'] for d in now()]}")
        return now()

    async def mark(self, path, text):
        """Waits for a diagnostic with the text."""
        found = await self.marks(path, lambda marks: any(text in m["message"] for m in marks), text)
        return next(m for m in found if text in m["message"])

    async def action(self, path, title, rng=None, diagnostics=()):
        """Finds the action whose title begins so."""
        offered = await self.ed.actions(path, rng, diagnostics=list(diagnostics)) or []
        fits = [a for a in offered if a["title"].startswith(title)]
        want(fits, f"no action {title!r} among {[a['title'] for a in offered]}")
        return fits[0]

    async def act(self, path, title, rng=None, diagnostics=()):
        """Chooses an action."""
        return await self.ed.run_action(await self.action(path, title, rng, diagnostics))

    async def proposal(self):
        """The only proposal there is."""
        proposals = (await self.call("agent/proposals", {}))["proposals"]
        want(len(proposals) == 1, f"there are {len(proposals)} proposals")
        return proposals[0]

    async def hunks(self, path):
        """The hunks of a document in the proposal, and the proposal's id."""
        proposal = await self.proposal()
        return proposal["id"], [h for f in proposal["files"] if f["uri"] == self.ed.uri(path) for h in f["hunks"]]

    def text(self, path):
        return self.ed.text(path)

    async def kill(self):
        """Ends the server as a crash would."""
        self.killed = True
        self.wire.process.kill()
        await self.wire.process.wait()
        await asyncio.wait(self.wire._readers, timeout=PATIENCE)


def at(line, character=0, to=None):
    """A range in one line, or from there to another position."""
    return {
        "start": {"line": line, "character": character},
        "end": dict(zip(("line", "character"), to or (line, character))),
    }


def said(w, pattern):
    """Whether a message to the user has such words."""
    return any(re.search(pattern, m[1].get("message", "")) for m in w.ed.messages if isinstance(m[1], dict))


__all__ = [
    "Closed", "PATIENCE", "Play", "ResponseError", "Stage", "Window", "Wrong", "answers", "at", "command_of", "said",
    "want",
]
