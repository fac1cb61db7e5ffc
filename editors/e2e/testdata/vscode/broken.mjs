// A program that ends before it answers is no server: that is said once, with what to do, and the program is not
// started again and again.
import { check, story } from './editor.mjs';

await story(process.cwd(), {}, async (editor, page) => {
  const trouble = editor.notification('agentls could not be started');
  await page.getByRole('button', { name: 'Yes, I trust the authors' }).click();
  await trouble.waitFor();
  await page.locator('.statusbar-item[id*="agentls"] .codicon-error').first().waitFor();
  await editor.picture('broken');
  await editor.press('agentls could not be started', 'Show Log');
  await page.locator('.part.panel .view-line', { hasText: 'ended before it answered' }).first().waitFor();
  await editor.command('Notifications: Show Notifications');
  const told = await page.locator('.notifications-center .notification-list-item').allInnerTexts();
  check(told.length === 0, `it is told more than once: ${told.join('; ')}`);
});
