// A run by a model of the editor: another extension brings it, and it calls a tool.
import { story } from './editor.mjs';

await story(process.cwd(), { 'chat.disableAIFeatures': false, 'agentls.default_model': 'editor/counter' }, async (editor, page) => {
  const say = (text) => console.log(text);
  say('explain a file');
  await page.getByRole('button', { name: 'Yes, I trust the authors' }).click();
  await editor.openFile('cart.go');
  await page.locator('.statusbar-item[id*="agentls"]', { hasText: 'agentls' }).first().waitFor();
  await editor.picture('lend-1');
  await editor.command('agentls: Explain');
  say('read its answer');
  await page.frameLocator('iframe.webview.ready').frameLocator('#active-frame').getByText('The counter has seen the whole cart.').first().waitFor();
  await editor.picture('lend-2');
});
