// A program that the user has named speaks another version than the extension: that is said, and it works as far as it
// can.
import { story } from './editor.mjs';

await story(process.cwd(), { 'agentls.path': 'agentls' }, async (editor, page) => {
  await editor.begin('cart.go');
  await editor.notified('is another version than the extension');
  await editor.picture('old');
  await editor.press('is another version than the extension', 'Open Setting');
  await page.locator('.setting-item-label', { hasText: 'Path' }).first().waitFor();
});
