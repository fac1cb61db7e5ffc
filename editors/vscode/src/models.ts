import * as vscode from 'vscode';
import { ErrorCodes, LSPErrorCodes, ResponseError } from 'vscode-languageclient/node';
import type { GenerateParams, GenerateResult, ModelMessage, ModelPart } from './protocol';
import type { Server } from './server';

/**
 * Lends the editor's own language models to the server. They are announced only where there are any; when the first comes
 * while nothing runs, the server is started anew.
 */
export async function lendModels(server: Server, idle: () => boolean, subscriptions: vscode.Disposable[]): Promise<void> {
  server.answer('agent/model/generate', (params, token) => generate(server, params, token));
  const found = async () => (await vscode.lm.selectChatModels()).length > 0;
  server.support.models = await found();
  subscriptions.push(
    vscode.lm.onDidChangeChatModels(async () => {
      if (!server.support.models && (await found()) && idle()) {
        server.support.models = true;
        await server.restart();
      }
    }),
  );
}

async function generate(server: Server, params: GenerateParams, token: vscode.CancellationToken): Promise<GenerateResult> {
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
        parts.push({ kind: 'call', id: piece.callId, name: piece.name, arguments: piece.input as NonNullable<ModelPart['arguments']> });
      }
    }
  } catch (error) {
    if (token.isCancellationRequested) {
      throw new ResponseError(LSPErrorCodes.RequestCancelled, 'The request was cancelled.');
    }
    if (error instanceof vscode.LanguageModelError) {
      if (error.code === vscode.LanguageModelError.Blocked.name) {
        return { message: { role: 'assistant', parts }, stop: 'refused' };
      }
      throw new ResponseError(LSPErrorCodes.RequestFailed, `${model.vendor} ${model.name}: ${error.message}`, {
        kind: 'no_model',
        detail: `${model.name} of the editor cannot be used: ${error.message}`,
        hint: 'Allow agentls to use it (Accounts > Manage Language Model Access), or choose another model.',
      });
    }
    throw new ResponseError(ErrorCodes.InternalError, error instanceof Error ? error.message : String(error));
  }
  const calls = parts.some((part) => part.kind === 'call');
  return { message: { role: 'assistant', parts }, stop: calls ? 'calls' : 'end' };
}

async function choose(name: string | undefined): Promise<vscode.LanguageModelChat> {
  const models = await vscode.lm.selectChatModels();
  const model = name ? models.find((model) => [model.id, model.family, `${model.vendor}/${model.family}`, model.name].includes(name)) : models[0];
  if (!model) {
    throw new ResponseError(LSPErrorCodes.RequestFailed, 'The editor has no such model.', {
      kind: 'no_model',
      detail: name ? `The editor has no language model ${name}; it has ${models.map((model) => model.id).join(', ') || 'none'}.` : 'The editor has no language model.',
      hint: 'Install an extension that brings one, such as GitHub Copilot, or set agentls.default_model.',
    });
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
