"""The probe's validator, closed where the custom protocol is: what the server sends has no member that the schema does not name."""
import contextlib
import copy
import json
import re
from pathlib import Path

from minischema import Schemas
from validator import Validator

TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$"
URI = r"^[A-Za-z][A-Za-z0-9+.-]*:[\x21-\x7e]*$"
IDS = re.compile(r"^(Session|Run|Message|Call|Finding|Proposal|Hunk|Ask|Grant)ID$")


def closed(text):
    """The schemas with no room for other members, as the server writes URIs, times and ids."""
    document = json.loads(text)

    def close(schema):
        if isinstance(schema, list):
            for item in schema:
                close(item)
        elif isinstance(schema, dict):
            if schema.get("format") == "date-time":
                schema["pattern"] = TIME
            if schema.get("format") == "uri":
                schema["pattern"] = URI
            if "properties" in schema and "description" in schema and schema.get("type") == "object" and "allOf" not in schema:
                schema.setdefault("additionalProperties", False)
            for item in schema.values():
                close(item)

    close(document["$defs"])
    for name, schema in document["$defs"].items():
        if IDS.match(name):
            schema["pattern"] = r"^[a-z][0-9A-Za-z_-]+$"
    return document


def command_of(method):
    """The name of the command that stands for a request."""
    return "agentls.permission.explain" if method == "agent/explain" else "agentls." + method.removeprefix("agent/").replace("/", ".")


class ClosedSchemas(Schemas):
    """The schemas of the custom protocol. Its events, commands and errors are checked by them, too."""

    def __init__(self, path):
        document = closed(open(path).read())
        self.documents = {"agent": document}
        self.methods = {name: (document, pair) for name, pair in document["methods"].items()}
        self.commands = {name: (document, pair) for name, pair in document["commands"].items()}
        self.document = document
        folder = Path(path).parent
        table = json.loads((folder / "agent.table.json").read_text())
        self.codes = table["errorCodes"]
        self._errors, self._common = table["errors"], table["commonErrors"]

    def documented(self, name):
        """The kinds of errors that a request or a command may end with."""
        for method in self.methods:
            if name == command_of(method):
                name = method
        return [*self._errors.get(name, ()), *self._common]

    def resolved(self, schema):
        """A schema behind its references."""
        while "$ref" in schema:
            schema = self._ref(schema["$ref"], self.document)[0]
        return schema

    def structure(self, schema):
        """The schema of params, which may be null where no member has to be there."""
        return self.resolved(schema["anyOf"][0] if "anyOf" in schema else schema)

    def kind(self, schema):
        return self.resolved(schema).get("type")

    def sample(self, key, schema):
        """A value that is right by its form."""
        schema = self.resolved(schema)
        if "enum" in schema:
            return schema["enum"][0]
        if schema.get("format") == "uri":
            return "file:///nowhere/file.go"
        if schema["type"] == "object":
            return {k: self.sample(k, schema["properties"][k]) for k in schema.get("required", ())}
        return {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": []}[schema["type"]]

    def of(self, name, value):
        """The faults of a value of a named type."""
        return list(self.faults(self.document["$defs"][name], value, self.document))


class Judge(Validator):
    """Judges one connection. A piece of an answer that the server asked for is looked at as part of the custom protocol."""

    def __init__(self, model, schemas):
        super().__init__(model, ("agent/",), schemas)
        self.pieces = set()  # tokens of agent/model/generate
        self.methods = set()  # that either side has used
        self.client_name = ""
        self.agents = schemas
        self.deliberate = False  # what the client sends now is wrong on purpose

    @contextlib.contextmanager
    def on_purpose(self):
        """The client's messages are wrong on purpose."""
        self.deliberate = True
        try:
            yield
        finally:
            self.deliberate = False

    def say(self, level, rule, side, text, method=""):
        if not (self.deliberate and side == "client"):
            super().say(level, rule, side, text, method)

    def _our_request(self, call, good):
        if not self.deliberate:
            super()._our_request(call, good)

    def _edit(self, edit, method):
        super()._edit(as_shown(edit, self.client_name), method)

    def _request(self, identity, method, params, side):
        self.methods.add(method)
        if method == "initialize":
            self.client_name = params.get("clientInfo", {}).get("name", "")
        if method == "agent/model/generate":
            self.pieces.add(params.get("partialResultToken"))
        super()._request(identity, method, params, side)

    def _notification(self, method, params, side):
        self.methods.add(method)
        if method == "$/progress" and side == "client" and params["token"] in self.pieces:
            for fault in self.agents.of("ModelPart", params["value"]):
                self.say("error", "schema", side, f"a piece{fault}", method)
            return
        super()._notification(method, params, side)

    def _response(self, identity, m, side):
        call = (self.theirs if side == "client" else self.ours).get(identity)
        super()._response(identity, m, side)
        if call is not None and side == "client" and call.method == "client/registerCapability" and "error" in m:
            for registration in call.params["registrations"]:  # what was refused is not registered
                self.registrations.pop(registration["id"], None)
        if call is None or side == "client":
            return
        if "error" in m and (call.method.startswith("agent/") or call.method == "workspace/executeCommand"):
            data = m["error"].get("data")
            for fault in self.agents.of("Failure", data):
                self.say("error", "error-data", side, f"data{fault}: {m['error'].get('message')}", call.method)
        elif call.method == "workspace/executeCommand":
            name = call.params["command"]
            document, pair = self.agents.commands.get(name, (None, {}))
            if document is None:
                return self.say(
                    "error", "schema", side, f"answered the command {name!r}, which has no schema", call.method,
                )
            if "result" in pair:
                for fault in self.agents.faults(pair["result"], m["result"], document):
                    self.say("error", "schema", side, f"result of {name}{fault}", call.method)


def as_shown(edit, client):
    """An edit in the terms of LSP. Neovim shows a new file as one empty line, whose end stays when its text is replaced."""
    if client != "Neovim":
        return edit
    edit = copy.deepcopy(edit)
    made = {c["uri"] for c in edit.get("documentChanges", ()) if c.get("kind") == "create"}
    for change in edit.get("documentChanges", ()):
        if "edits" in change and change["textDocument"]["uri"] in made:
            for text in change["edits"]:
                if text["range"]["end"] == {"line": 1, "character": 0}:
                    text["range"]["end"] = {"line": 0, "character": 0}
                if not text["newText"].endswith("\n"):
                    text["newText"] += "\n"
    return edit
