// A language model for the test of what agentls borrows: it reads a file by the tool that it is offered, and says how
// many lines it has seen.
const vscode = require('vscode');

exports.activate = (context) => {
  const provider = {
    provideLanguageModelChatInformation: () => [
      {
        id: 'counter',
        name: 'Counter',
        family: 'counter',
        version: '1',
        maxInputTokens: 100_000,
        maxOutputTokens: 4_000,
        capabilities: { toolCalling: true },
      },
    ],
    async provideLanguageModelChatResponse(_model, messages, options, progress) {
      const results = messages.flatMap((message) => message.content).filter((part) => part instanceof vscode.LanguageModelToolResultPart);
      if (results.length === 0 && options.tools?.some((tool) => tool.name === 'read')) {
        progress.report(new vscode.LanguageModelToolCallPart('call-1', 'read', { path: 'cart.go' }));
        return;
      }
      const lines = results.flatMap((result) => result.content).map((part) => part.value).join('').split('\n').length;
      progress.report(new vscode.LanguageModelTextPart(`The counter has seen ${lines > 10 ? 'the whole cart' : 'nothing'}.`));
    },
    provideTokenCount: async (_model, text) => String(text).length,
  };
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider('lender', provider));
};
