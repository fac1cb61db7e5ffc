// The user goes back in the tree: to before a prompt whose edits are open, and prompts again; then to before one whose
// edit was accepted.
import { readFileSync } from 'node:fs';
import { check, story } from './editor.mjs';

await story(process.cwd(), {}, async (editor, page) => {
  const say = (text) => console.log(text);
  const onDisk = readFileSync('cart.go', 'utf8');
  const goBack = async (line, title) => {
    const question = page.locator('.monaco-dialog-box', { hasText: `Go back to before “${title}”?` });
    await editor.chooseInRow(line, 'Go Back to Before This Prompt…', question);
    await question.getByRole('button', { name: 'Go Back', exact: true }).click();
  };

  say('have an edit proposed, and accept it');
  await editor.begin('cart.go');
  await editor.run('Coder', 'Mend the first comment.');
  await editor.notified('Coder: done, 1 proposed edit');
  await editor.lens(/^\s*Accept$/).click();
  await editor.hasText('// First comes first.');

  say('have more proposed');
  await editor.showSessions();
  const resume = page.locator('.quick-input-widget', { hasText: 'Resume “Mend the first comment.”' });
  await editor.pressInRow(/comment\.\s*coder/, 'Resume a Run', () => resume.isVisible());
  await editor.enter('Resume “Mend the first comment.”', 'Mend the others too.');
  await editor.notified('Coder: done, 2 proposed edits');
  await editor.until('two edits', async () => (await editor.lens(/^\s*Accept$/).count()) === 2);
  await editor.picture('rewind-1-proposed');

  say('go back to before these, and prompt again');
  await goBack(/too\.\s*coder/, 'Mend the others too.');
  await editor.notified('2 edits taken back');
  await editor.picture('rewind-2-back');
  await editor.until('no edit', async () => (await editor.lens(/^\s*Accept$/).count()) === 0);
  await editor.hasText('// First comes first.');
  await editor.press('2 edits taken back', 'Prompt Again…');
  await editor.enter('What shall be done instead?', 'How many are left?');
  await editor.beside('Two are left.').waitFor();

  say('go back to before all');
  await goBack(/comment\.\s*coder/, 'Mend the first comment.');
  await editor.notified('1 edit taken back');
  await editor.hasText('// first\n');
  await editor.picture('rewind-3-all');
  check(readFileSync('cart.go', 'utf8') === onDisk, 'the file on disk has changed');
});
