// A client made of the protocol's own library: it talks with the agent over its own standard input and output, and fails
// by an exception. AGENTLS_ACP is the folder of the library, and the argument the folder to work on.
import assert from "node:assert";
import fs from "node:fs/promises";
import { Readable, Writable } from "node:stream";

const acp = await import(`file://${process.env.AGENTLS_ACP}/dist/v1/stable/acp.js`);
const cwd = process.argv[2];
const updates = [], asked = [];
const of = (kind) => updates.filter((u) => u.sessionUpdate === kind);
const said = () => of("agent_message_chunk").map((u) => u.content.text).join("");

const app = acp
  .client()
  .onNotification("session/update", ({ params }) => void updates.push(params.update))
  .onRequest("session/request_permission", ({ params }) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: params.options.find((o) => o.kind === "allow_once").optionId } };
  })
  .onRequest("elicitation/create", ({ params }) => {
    asked.push(params);
    return { action: "accept", content: { answer: "new" } };
  })
  .onRequest("fs/read_text_file", async ({ params }) => ({ content: await fs.readFile(params.path, "utf8") }))
  .onRequest("fs/write_text_file", async ({ params }) => {
    await fs.writeFile(params.path, params.content);
    return {};
  });

const stream = acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
await app.connectWith(stream, async (agent) => {
  const { protocolVersion, agentCapabilities } = await agent.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, elicitation: { form: {} } },
  });
  assert.equal(protocolVersion, 1);
  assert.ok(agentCapabilities.loadSession);
  const { sessionId, modes, configOptions } = await agent.request("session/new", { cwd, mcpServers: [] });
  assert.equal(modes.currentModeId, "default");
  assert.deepEqual(configOptions.map((o) => o.id), ["mode", "agent", "model", "effort"]);
  const prompt = (text) => agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });

  assert.equal((await prompt("Rename it.")).stopReason, "end_turn");
  assert.deepEqual(asked.map((p) => p.message ?? p.toolCall.title), ["Which name?", "Write a.txt"]);
  assert.equal(await fs.readFile(`${cwd}/a.txt`, "utf8"), "new\n");
  assert.equal(said(), "Done.");
  assert.ok(of("tool_call_update").some((u) => u.content?.some((c) => c.type === "diff" && c.newText === "new\n")));

  const cancelled = prompt("Wait.");
  while (said() !== "Done.I wait.") await new Promise((go) => setImmediate(go));
  await agent.notify("session/cancel", { sessionId });
  assert.equal((await cancelled).stopReason, "cancelled");

  updates.length = 0;
  await assert.rejects(agent.request("session/load", { sessionId: "none", cwd, mcpServers: [] }), /no session/);
  await agent.request("session/load", { sessionId, cwd, mcpServers: [] });
  assert.deepEqual(of("user_message_chunk").map((u) => u.content.text), ["Rename it.", "Wait."]);
  const { sessions } = await agent.request("session/list", { cwd });
  assert.deepEqual(sessions.map((s) => s.sessionId), [sessionId]);
});
