// A server that is killed comes back, once it may; what was done and proposed is still known, and what was cut off is
// asked about.
import { check, story } from './editor.mjs';

await story(process.cwd(), {}, async (editor, page) => {
  const say = (text) => console.log(text);

  say('work');
  await editor.begin('cart.go');
  await editor.showSessions();
  await editor.run('Coder', 'Greet me.');
  await editor.beside('Good morning.').waitFor();

  say('kill the server: it comes back, and what was done is still known');
  await editor.kill('agentls serve');
  await editor.notified('ended unexpectedly');
  await editor.agents();
  await editor.row('Greet me.').first().waitFor();
  await editor.picture('restart-1-again');

  say('propose an edit, and be cut off in another run: both are there again');
  await editor.run('Coder', 'Mend the comments.');
  await editor.notified('Coder: done, 1 proposed edit');
  await editor.run('Coder', 'Take your time.');
  await editor.row('Take your time.').first().waitFor();
  await editor.kill('agentls serve');
  await editor.notified('“coder: Take your time.” was interrupted');
  await editor.row('Proposed edits').first().waitFor();
  await editor.row('cart.go').first().waitFor();
  await editor.picture('restart-3-left');
  const told = await page.locator('.notification-toast', { hasText: 'interrupted' }).allInnerTexts();
  check(told.length === 1, `it is told more than once: ${told.join('; ')}`);
  await editor.press('was interrupted', 'Resume');
  await editor.row('Go on with the task').locator('.codicon-pass').first().waitFor();

  say('kill it again and again: it is not started for ever, which is said in the end');
  for (let i = 0; i < 2; i++) {
    await editor.agents();
    await editor.kill('agentls serve');
  }
  await editor.notified('is not started again');
  await editor.picture('restart-2-stopped');

  say('start it by hand');
  await editor.press('is not started again', 'Start Again');
  await editor.agents();
  await editor.row('Greet me.').first().waitFor();
});
