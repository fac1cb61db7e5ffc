import * as vscode from 'vscode';
import { LSPErrorCodes, ResponseError } from 'vscode-languageclient/node';
import type { Failure, GenerateParams, GenerateResult, ModelMessage, ModelPart } from './protocol';
import { readable, type Server } from './server';

/** Lends the editor's own language models to the server, which is told which there are whenever that changes. */
export function lendModels(server: Server, subscriptions: vscode.Disposable[]): void {
  server.support.models = true;
  server.answer('agent/model/generate', (params, token) => generate(server, params, token));
  const tell = async () => {
    try {
      const models = await vscode.lm.selectChatModels();
      if (server.running) {
        await server.request('agent/model/lend', {
          models: models.map((model) => ({
            id: model.id, title: `${model.name} (${model.vendor})`, contextTokens: model.maxInputTokens,
          })),
        });
      }
    } catch (error) {
      server.log.warn(`The editor's language models are not lent: ${readable(error)}`);
    }
  };
  subscriptions.push(
    vscode.lm.onDidChangeChatModels(() => void tell()),
    server.onDidStart(() => void tell()),
  );
}

async function generate(
  server: Server, params: GenerateParams, token: vscode.CancellationToken,
): Promise<GenerateResult> {
  const model = await choose(params.model);
  const messages = [vscode.LanguageModelChatMessage.User(params.system), ...params.messages.map(message)];
  const options: vscode.LanguageModelChatRequestOptions = {
    justification: 'An agent of agentls works with this model.',
    tools: params.tools.map((tool) => ({ name: tool.name, description: tool.description, inputSchema: tool.schema })),
    modelOptions: {
      ...(params.maxTokens ? { max_tokens: params.maxTokens } : {}),
      ...(params.temperature === undefined ? {} : { temperature: params.temperature }),
    },
  };
  const parts: ModelPart[] = [];
  try {
    const response = await model.sendRequest(messages, options, token);
    for await (const piece of response.stream) {
      if (piece instanceof vscode.LanguageModelTextPart) {
        const last = parts.at(-1);
        if (last?.kind === 'text') {
          last.text += piece.value;
        } else {
          parts.push({ kind: 'text', text: piece.value });
        }
        if (params.partialResultToken !== undefined) {
          await server.progress(params.partialResultToken, { kind: 'text', text: piece.value });
        }
      } else if (piece instanceof vscode.LanguageModelToolCallPart) {
        if (params.partialResultToken !== undefined) {
          await server.progress(params.partialResultToken, { kind: 'call', name: piece.name });
        }
        parts.push({
          kind: 'call',
          id: piece.callId,
          name: piece.name,
          arguments: piece.input as NonNullable<ModelPart['arguments']>,
        });
      }
    }
  } catch (error) {
    if (token.isCancellationRequested) {
      throw new ResponseError(LSPErrorCodes.RequestCancelled, 'The request was cancelled.');
    }
    if (error instanceof vscode.LanguageModelError && error.code === vscode.LanguageModelError.Blocked.name) {
      return { message: { role: 'assistant', parts }, stop: 'refused' };
    }
    throw failed(model, error);
  }
  const calls = parts.some((part) => part.kind === 'call');
  return { message: { role: 'assistant', parts }, stop: calls ? 'calls' : 'end' };
}

/** What the server is told about a failure: whether it is worth another attempt, and what the user can do. */
function failed(model: vscode.LanguageModelChat, error: unknown): ResponseError<Failure> {
  const code = error instanceof vscode.LanguageModelError ? error.code : '';
  const detail = `${model.name} of the editor: ${readable(error)}`;
  const failure: Failure =
    code === vscode.LanguageModelError.NoPermissions.name
      ? {
        kind: 'auth',
        detail,
        hint: 'Let agentls use it (Accounts > Manage Language Model Access), or choose another model.',
      }
      : code === vscode.LanguageModelError.NotFound.name
        ? { kind: 'not_found', detail, hint: 'Choose another model in agentls.defaultModel.' }
        : { kind: /quota|rate.?limit/i.test(detail) ? 'rate_limit' : 'server', detail };
  return new ResponseError(LSPErrorCodes.RequestFailed, detail, failure);
}

async function choose(id: string | undefined): Promise<vscode.LanguageModelChat> {
  const models = await vscode.lm.selectChatModels(id === undefined ? {} : { id });
  const model = models[0];
  if (!model) {
    const detail = id === undefined ? 'The editor has no language model.' : `The editor has no language model ${id}.`;
    const hint = 'Install an extension that brings one, such as GitHub Copilot, or set agentls.defaultModel.';
    throw new ResponseError<Failure>(LSPErrorCodes.RequestFailed, detail, { kind: 'not_found', detail, hint });
  }
  return model;
}

function message(m: ModelMessage): vscode.LanguageModelChatMessage {
  if (m.role === 'assistant') {
    const parts = m.parts.flatMap((part): (vscode.LanguageModelTextPart | vscode.LanguageModelToolCallPart)[] =>
      part.kind === 'text'
        ? [new vscode.LanguageModelTextPart(part.text ?? '')]
        : part.kind === 'call'
          ? [new vscode.LanguageModelToolCallPart(part.id ?? '', part.name ?? '', part.arguments ?? {})]
          : [],
    );
    return vscode.LanguageModelChatMessage.Assistant(parts);
  }
  const parts = m.parts.flatMap((part): (vscode.LanguageModelTextPart | vscode.LanguageModelToolResultPart)[] =>
    part.kind === 'text'
      ? [new vscode.LanguageModelTextPart(part.text ?? '')]
      : part.kind === 'result'
        ? [new vscode.LanguageModelToolResultPart(part.id ?? '', [new vscode.LanguageModelTextPart(part.text ?? '')])]
        : [],
  );
  return vscode.LanguageModelChatMessage.User(parts);
}
