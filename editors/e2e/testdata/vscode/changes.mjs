// The user chooses which changes of a repository are reviewed. Unsaved text is among them; what there is not, is said.
import { readFileSync } from 'node:fs';
import { check, story } from './editor.mjs';

await story(process.cwd(), {}, async (editor, page) => {
  const say = (text) => console.log(text);
  const onDisk = readFileSync('cart.go', 'utf8');
  const rows = page.locator('.quick-input-list .monaco-list-row');
  // Asks for the changes of a revision: its box comes in the place of the list.
  const review = async (which, question, revision) => {
    await editor.command('agentls: Review Changes…');
    await rows.filter({ hasText: which }).click();
    await editor.enter(question, revision);
  };

  say('review what is not committed, unsaved text included');
  await editor.begin('cart.go');
  await page.keyboard.press('End');
  await page.keyboard.insertText(' // unsaved');
  await editor.hasText('package cart // unsaved');
  await editor.command('agentls: Review Changes…');
  await rows.filter({ hasText: 'One commit…' }).waitFor();
  await editor.picture('changes-1-which');
  await editor.choose('Review Changes', 'My changes');
  await (await editor.notified('Reviewer: 1 problem.')).getByText('Show Problems').click();
  await page.locator('.markers-panel .monaco-list-row', { hasText: 'The comment says nothing.' }).first().waitFor();
  await editor.picture('changes-2-problem');

  say('ask for what there is not');
  await editor.command('agentls: Review Changes…');
  await editor.choose('Review Changes', 'Staged changes');
  await editor.notified('nothing is staged');
  await review('My branch…', 'Against which branch?', 'trunk');
  await editor.notified('there is no commit "trunk"');
  await review('One commit…', 'Which commit?', 'c0ffee');
  await editor.notified('there is no commit "c0ffee"');
  await editor.picture('changes-3-none');
  check(readFileSync('cart.go', 'utf8') === onDisk, 'the file on disk has changed');
});
