// The user types over the lines of two proposed edits. Both are shown as conflicts: one is decided for the agent, one
// for the user.
import { check, story } from './editor.mjs';

await story(process.cwd(), {}, async (editor, page) => {
  const say = (text) => console.log(text);
  const typeOver = async (line, text) => {
    await editor.goToLine(line);
    await page.keyboard.press('Shift+End');
    await page.keyboard.insertText(text);
    await editor.hasText(text);
  };

  say('have edits proposed');
  await editor.begin('cart.go');
  await editor.run('Coder', 'Improve the comments.');
  await editor.notified('Coder: done, 3 proposed edits');
  await editor.lens('Accept all 3 edits').waitFor();

  say('type over two of them');
  await typeOver(3, '// my first');
  await editor.lens(/Conflict/).first().waitFor();
  await typeOver(11, '// my third');
  await editor.until('two conflicts', async () => (await editor.lens(/Conflict/).count()) === 2);
  check((await editor.lens(/^\s*Accept$/).count()) === 1, 'the other edit is not offered alone');
  await editor.picture('conflict-1-both');

  say('take the lines of the agent, and keep those of the user');
  await editor.lens(/Conflict/).first().click();
  await editor.hasText('// first is better');
  await editor.until('one conflict less', async () => (await editor.lens(/Conflict/).count()) === 1);
  await editor.lens('Keep these lines').click();
  await editor.until('no conflict', async () => (await editor.lens(/Conflict/).count()) === 0);
  check((await editor.text()).includes('// my third\n'), 'the lines of the user are gone');
  await editor.picture('conflict-2-decided');

  say('the third edit is still there');
  await editor.lens(/^\s*Accept$/).first().click();
  await editor.hasText('// second is better');
  await editor.until('no edit', async () => (await editor.lens(/Accept/).count()) === 0);
});
