// A run by a model of the editor: another extension brings it, and it calls a tool.
import { story } from './editor.mjs';

await story(process.cwd(), {
  'chat.disableAIFeatures': false, 'agentls.defaultModel': 'editor/counter',
}, async (editor) => {
  const say = (text) => console.log(text);
  say('explain a file');
  await editor.begin('cart.go');
  await editor.picture('lend-1');
  await editor.command('agentls: Explain');
  say('read its answer');
  await editor.beside('The counter has seen the whole cart.').waitFor();
  await editor.picture('lend-2');
});
