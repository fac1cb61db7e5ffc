// A run is told something while it works, goes on after its end, and is read; another is cancelled by its notification.
import { check, story } from './editor.mjs';

await story(process.cwd(), {}, async (editor, page) => {
  const say = (text) => console.log(text);
  const box = (title) => page.locator('.quick-input-widget', { hasText: title });

  say('tell a run something, from the tree');
  await editor.begin('cart.go');
  await editor.showSessions();
  await editor.run('Coder', 'Count to three.');
  await editor.pressInRow(/three\.\s*coder/, 'Tell a Run Something', () => box('Tell Coder something').isVisible());
  await editor.picture('steer-1-tell');
  await editor.enter('Tell Coder something', 'In French, please.');
  await page.locator('.statusbar-item', { hasText: 'Coder hears it at its next turn' }).first().waitFor();
  say('let the other go on');
  await editor.beside('Un, deux, trois.').waitFor();
  await editor.picture('steer-2-answer');

  say('resume it');
  await editor.pressInRow(/three\.\s*coder/, 'Resume a Run', () => box('Resume “Count to three.”').isVisible());
  await editor.enter('Resume “Count to three.”', 'Go on to five.');
  await editor.beside('Quatre, cinq.').waitFor();
  check((await page.locator('.editor-group-container').count()) === 2, 'each answer takes a column of its own');
  await editor.picture('steer-3-resumed');

  say('read its transcript');
  await editor.row(/five\.\s*coder/).first().click();
  await page.locator('.tab', { hasText: 'Coder: Go on to five.' }).waitFor();
  for (const text of ['In French, please.', 'Un, deux, trois.', 'Go on to five.', 'Quatre, cinq.']) {
    await editor.beside(text).waitFor();
  }
  await editor.picture('steer-4-transcript');

  say('cancel the progress of another');
  await editor.run('Coder', 'Wait for ever.');
  await editor.press('coder: Wait for ever', 'Cancel');
  await editor.until(
    'the end of the run', async () => (await editor.row(/ever\.\s*coder/).locator('.codicon-circle-slash').count()) > 0,
  );
  await editor.until('the end of the progress', async () => (await editor.notification('Wait for ever').count()) === 0);
  await editor.picture('steer-5-cancelled');
});
