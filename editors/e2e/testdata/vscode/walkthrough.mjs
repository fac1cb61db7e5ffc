// The first steps, as the extension shows them to somebody who has just installed it: without a key.
import { story } from './editor.mjs';

await story(process.cwd(), {}, async (editor, page) => {
  const say = (text) => console.log(text);
  const step = (title) => page.locator('.getting-started-step', { hasText: title }).first();
  const done = (title) => step(title).locator('.codicon-getting-started-step-checked.complete, .codicon-pass-filled').first();

  say('open the walkthrough beside a file');
  await editor.begin('notes.txt');
  await editor.command('agentls: Get Started');
  await page.locator('.gettingStartedContainer').getByText('A first review with agentls').first().waitFor();
  await editor.picture('walkthrough-1-open');

  say('review a file');
  await step('Review a file').getByRole('button', { name: 'Review This File' }).click();
  await editor.notified('Reviewer: 1 hint, 1 proposed edit');
  await editor.picture('walkthrough-2-reviewed');
  await done('Review a file').waitFor();

  say('look at the proposed edit');
  await step('Accept or reject edits').click();
  await step('Accept or reject edits').getByRole('button', { name: 'Show the Proposed Edits' }).click();
  await page.locator('.monaco-diff-editor .view-line', { hasText: 'The shop is open.' }).first().waitFor();
  await editor.picture('walkthrough-3-diff');
});
