// A review by the offline rules, in a folder that is trusted first, of text that was never saved; then a finding's quick fix, undo,
// and what the view shows.
import { readFileSync } from 'node:fs';
import { check, story } from './editor.mjs';

const unsaved = `
// Forget removes the the order of that name.
func Forget(name string) {
os.Chdir(name)
os.Rename(name, name)
}
`;

await story(process.cwd(), { 'editor.autoIndent': 'none', 'editor.autoClosingBrackets': 'never', 'editor.formatOnType': false }, async (editor, page) => {
  const say = (text) => console.log(text);

  say('nothing of the folder acts before it is trusted');
  const status = page.locator('.statusbar-item[id*="agentls"]', { hasText: 'agentls' }).first();
  const listed = async (name) => (await editor.agents()).some((agent) => agent.includes(name));
  await page.getByRole('button', { name: 'No, I don’t trust the authors' }).or(page.getByRole('button', { name: "No, I don't trust the authors" })).click();
  await status.waitFor();
  check(!(await listed('House')), 'an agent of a folder that is not trusted is listed');

  say('trust the folder');
  await editor.command('Workspaces: Manage Workspace Trust');
  await page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click();
  await editor.until('the agent of the folder', () => listed('House'));
  await editor.openFile('shelf/shelf.go');
  const onDisk = readFileSync('shelf/shelf.go', 'utf8');

  say('type into the file');
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText(unsaved);
  await editor.hasText('the the order');
  await status.waitFor();

  say('review it from the palette');
  await editor.command('agentls: Review File');
  await editor.notified('Reviewer: 2 problems, 2 hints, 1 proposed edit');
  await editor.picture('review-1-end');
  await editor.press('Reviewer: 2 problems', 'Show Problems');
  await page.locator('.markers-panel .monaco-list-row', { hasText: 'The error of os.Rename is dropped' }).first().waitFor();
  await editor.picture('review-2-problems');

  say('fix a finding');
  await editor.command('View: Toggle Panel Visibility');
  await editor.goToLine(19);
  const fix = await editor.quickFix('Fix this finding');
  await editor.picture('review-3-fixes');
  await fix.click();
  await editor.until('the fix', async () => !(await editor.text()).includes('the the order'));
  await editor.hasText('removes the order');

  say('the view has the session');
  await editor.showSessions();
  await editor.row('review shelf/shelf.go').first().waitFor();
  await editor.picture('review-4-sessions');

  say('undo the fix');
  await editor.command('agentls: Undo the Accepted Edits of a Run');
  await editor.hasText('the the order');
  check(readFileSync('shelf/shelf.go', 'utf8') === onDisk, 'the file on disk has changed');
});
