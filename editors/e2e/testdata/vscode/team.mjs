// An agent hands work to two children: one asks for permission and proposes edits, the other is stopped in the tree.
// One edit is accepted and taken back, one is rejected. The model is scripted.
import { readFileSync } from 'node:fs';
import { check, story } from './editor.mjs';

await story(process.cwd(), { 'agentls.subagent_ask': 'bubble' }, async (editor, page) => {
  const say = (text) => console.log(text);
  const onDisk = readFileSync('cart.go', 'utf8');

  say('run an agent');
  await editor.begin('cart.go');
  await editor.showSessions();
  await editor.picture('team-1-welcome');
  await editor.command('agentls: Run an Agent…');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Coder' }).first().waitFor();
  await editor.picture('team-2-agents');
  await editor.choose('Run an Agent', 'Coder');
  await editor.enter('What shall Coder do?', 'Share the work.');

  say('its progress, its children, and a question');
  await editor.notified('coder: Share the work');
  await editor.row('look for ever').first().waitFor();
  await editor.row('mend the comments').first().waitFor();
  await editor.notified(/coder: Share the work: waits for 2 children/s);
  const items = page.locator('.statusbar-item', { hasText: /coder|explore|general|question/ });
  await editor.until('one short item in the status bar', async () => {
    const texts = await items.allInnerTexts();
    return texts.length === 1 && texts[0].trim().length <= 32;
  });
  await editor.notified('coder ▸ general wants to write .vscode/settings.json');
  await editor.row('waits for you').first().waitFor();
  await editor.picture('team-3-question');
  await editor.press('wants to write .vscode/settings.json', 'Allow once');
  await editor.until(
    'the end of a child', async () => (await editor.row('mend the comments').locator('.codicon-pass').count()) > 0,
  );

  say('stop one child');
  await editor.pressInRow(
    'look for ever', 'Stop a Run',
    async () => (await editor.row('look for ever').locator('.codicon-circle-slash').count()) > 0,
  );
  await editor.notified('Coder: done, 3 proposed edits');
  await editor.picture('team-4-done');

  say('look at the diffs of all files');
  await editor.command('agentls: Show the Proposed Edits');
  const toolbar = page.locator('.editor-group-container.active .editor-actions');
  await toolbar.locator('.action-label[aria-label^="Accept All Edits"]').waitFor();
  await toolbar.locator('.action-label[aria-label^="Reject All Edits"]').waitFor();
  const proposed = page.locator('.multiDiffEntry .modified .view-line', { hasText: 'Third comes last' });
  await proposed.first().click({ button: 'right' });
  const menu = page.locator('.monaco-menu');
  await menu.getByText('Accept the Edits of This File').waitFor();
  await editor.picture('team-4-diffs');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+F4');

  say('accept one edit, reject another');
  await editor.openFile('cart.go');
  await editor.lens('Accept all 2 edits').waitFor();
  await editor.picture('team-5-proposals');
  await editor.lens(/^\s*Accept$/).first().click();
  await editor.hasText('// First comes first.');
  await editor.until('one edit less', async () => (await editor.lens('Reject').count()) === 1);
  await editor.lens('Reject').first().click();
  await editor.until('no edit', async () => (await editor.lens('Reject').count()) === 0);
  check((await editor.text()).includes('// third\n'), 'the rejected edit was made');
  await editor.row('settings.json').first().waitFor();

  say('look at the diff of the new file, and reject it there');
  await editor.row('settings.json').first().click();
  await page.locator('.monaco-diff-editor .view-line', { hasText: '{}' }).first().waitFor();
  await editor.picture('team-6-diff');
  await page.locator('.editor-group-container.active .editor-actions .action-label[aria-label^="Reject the Edits"]').click();
  await editor.until('no proposal', async () => (await editor.row('Proposed edits').count()) === 0);
  await page.locator('.tab', { hasText: 'proposed by general' }).waitFor({ state: 'detached' });

  say('take back what was accepted');
  await editor.openFile('cart.go');
  await editor.command('agentls: Undo the Accepted Edits of a Run');
  await editor.notified('1 edit undone');
  await editor.hasText('// first\n');
  await editor.command('agentls: Undo the Accepted Edits of a Run');
  await editor.notified('No accepted edit can be undone');

  say('read the transcript of a child');
  await editor.row('mend the comments').first().click();
  await page.locator('.tab', { hasText: 'General: mend the comments' }).waitFor();
  await editor.beside('Mended.').waitFor();
  await editor.picture('team-7-transcript');
  check(readFileSync('cart.go', 'utf8') === onDisk, 'the file on disk has changed');
});
