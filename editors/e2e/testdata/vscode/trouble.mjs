// What goes wrong is told once, with a button for what mends it; a light bulb stands where there is something to do; a
// notebook is refused; the page of settings shows words. The program on PATH, which is none, is left alone: the
// extension brings its own.
import { check, story } from './editor.mjs';

await story(process.cwd(), {}, async (editor, page) => {
  const say = (text) => console.log(text);

  say('the light bulb');
  await editor.begin('cart.go');
  await editor.run('Coder', 'Mend the comments.');
  await editor.lens('Reject').first().waitFor();
  const bulb = page.locator('.editor-instance [class*="codicon-gutter-lightbulb"], .editor-instance .lightBulbWidget').filter({ visible: true });
  await editor.goToLine(3);
  await bulb.first().waitFor();
  await editor.goToLine(2);
  await editor.until('no light bulb at an empty line', async () => (await bulb.count()) === 0);
  await editor.picture('trouble-1-no-bulb');

  say('a failure');
  await editor.run('Coder', 'Use the key.');
  await editor.notified('wrong key; check the key');
  await editor.picture('trouble-2-failure');
  await editor.press('wrong key', 'Set a Key');
  await page.getByText('Set a key in the environment').first().waitFor();
  await editor.picture('trouble-3-remedy');
  await editor.command('Notifications: Show Notifications');
  const told = await page.locator(
    '.notifications-center .notification-list-item', { hasText: 'wrong key' },
  ).allInnerTexts();
  check(told.length === 0, `it is told more than once: ${told.join('; ')}`);

  say('a notebook');
  const row = (list) => list.locator('.monaco-list-row', { hasText: 'book.ipynb' }).first();
  await editor.quickly('F1', 'book.ipynb', (list, timeout) => row(list).click({ timeout }));
  await page.locator('.tab.active', { hasText: 'book.ipynb' }).waitFor();
  await editor.command('agentls: Review File');
  await editor.notified('notebooks are not supported yet');
  await editor.picture('trouble-4-notebook');

  say('the settings');
  await editor.command('Preferences: Open Settings (UI)');
  await page.locator('.settings-editor .monaco-editor').first().click();
  await page.keyboard.type('agentls.ask');
  await page.locator('.setting-item-label', { hasText: 'Ask Timeout' }).first().waitFor();
  await editor.picture('trouble-5-settings');
});
