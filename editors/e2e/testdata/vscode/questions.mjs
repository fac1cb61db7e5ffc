// An agent asks the user: to choose one, to choose several, and to write. Each is answered in another place.
import { story } from './editor.mjs';

await story(process.cwd(), {}, async (editor, page) => {
  const say = (text) => console.log(text);
  const widget = page.locator('.quick-input-widget');

  say('run an agent');
  await editor.begin('cart.go');
  await editor.showSessions();
  await editor.run('Coder', 'Ask me.');

  say('choose one, by its button');
  // The progress tells of the question, too, as "coder asks".
  await editor.notified(/Coder asks: Which colour/);
  await editor.row('Which colour?').first().waitFor();
  await page.locator('.statusbar-item', { hasText: '1 question' }).first().waitFor();
  await editor.picture('questions-1-one');
  await editor.press(/Coder asks: Which colour/, 'Green');

  say('choose several, from a list');
  await editor.press(/Coder asks: Which fruits/, 'Choose…');
  for (const fruit of ['Apple', 'Plum']) {
    await widget.locator('.quick-input-list .monaco-list-row', { hasText: fruit }).first().click();
  }
  await editor.until('two chosen', async () => /2 Selected/.test(await widget.innerText()));
  await editor.picture('questions-2-several');
  await widget.getByRole('button', { name: 'OK' }).click();

  say('put a question away, and answer it in the tree in own words');
  const name = await editor.notified(/Coder asks: What is its name/);
  await name.hover();
  await name.locator('.action-label[aria-label^="Clear Notification"]').first().click();
  await editor.row('What is its name?').first().click();
  await editor.picture('questions-3-words');
  await editor.enter('What is its name?', 'Ada');

  say('the agent has heard all three');
  await editor.beside('Thank you.').waitFor();
  await editor.until(
    'no question', async () => (await page.locator('.statusbar-item', { hasText: 'question' }).count()) === 0,
  );
  await editor.picture('questions-4-end');
});
