// A server that is killed comes back, once it may; what was done is still known.
import { story } from './editor.mjs';

await story(process.cwd(), {}, async (editor) => {
  const say = (text) => console.log(text);

  say('work');
  await editor.begin('cart.go');
  await editor.showSessions();
  await editor.run('Coder', 'Greet me.');
  await editor.beside('Good morning.').waitFor();

  say('kill the server: it comes back, and what was done is still known');
  await editor.kill('agentls serve');
  await editor.notification('ended unexpectedly').waitFor();
  await editor.agents();
  await editor.row('Greet me.').first().waitFor();
  await editor.picture('restart-1-again');

  say('kill it again and again: it is not started for ever, which is said in the end');
  for (let i = 0; i < 3; i++) {
    await editor.agents();
    await editor.kill('agentls serve');
  }
  await editor.notification('is not started again').waitFor();
  await editor.picture('restart-2-stopped');

  say('start it by hand');
  await editor.press('is not started again', 'Start Again');
  await editor.agents();
  await editor.row('Greet me.').first().waitFor();
});
