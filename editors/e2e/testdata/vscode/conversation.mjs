// The user talks with an agent in a document: by the button, by the key and from the palette, typing on while an answer
// streams; goes back to before a prompt; decides by the lenses, once they are on; and goes on from the tree.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, story } from './editor.mjs';

const folder = join(process.env.XDG_STATE_HOME, 'agentls', 'conversations');

// What is above the third prompt, without the title: typing went on right after a key had sent the correction.
const former = `
## You

Mend the first comment.

## coder <1>

- \`read cart.go\`: 13 lines
- \`edit cart.go\`: +1 -1

It is a sentence now.

- 1 edit to review: [cart.go:3](<file://${join(process.cwd(), 'cart.go')}#L3>)

## You

How many functions are there?

## coder <2>

Let me look.

- \`read cart.go\`: 13 lines

There are three of them.

## You

In French, please.

## coder <2>

Il y en a trois.

## You

What did I ask for first?
`;

await story(process.cwd(), {}, async (editor, page) => {
  const say = (text) => console.log(text);
  const onDisk = readFileSync('cart.go', 'utf8');

  // Saves the conversation, and returns what is below its title; the runs in its headings become numbers.
  const saved = async () => {
    await editor.repeatedly('save', async (timeout) => {
      await page.keyboard.press('Control+s');
      await page.locator('.tab.active:not(.dirty)').waitFor({ timeout });
    });
    const [name, ...more] = readdirSync(folder);
    check(more.length === 0, `there is another conversation: ${more}`);
    const text = readFileSync(join(folder, name), 'utf8');
    const runs = [];
    return text.slice(text.indexOf('\n') + 1).replace(/<!-- agentls:(\w+) -->/g, (_, run) => {
      runs.push(...(runs.includes(run) ? [] : [run]));
      return `<${runs.indexOf(run) + 1}>`;
    });
  };
  const same = (text, want) => check(text === want, `the conversation is ${JSON.stringify(text)}, not ${JSON.stringify(want)}`);

  say('open a conversation');
  await editor.begin('cart.go');
  await editor.command('agentls: Open Conversation');
  await page.locator('.tab.active', { hasText: '.agentls.md' }).waitFor();
  await page.locator('.monaco-editor.focused', { hasText: 'Conversation of' }).waitFor();
  await editor.picture('conversation-1-new');

  say('write a prompt, and press the button');
  await page.keyboard.type('Mend the first comment.');
  await editor.hasText('Mend the first comment.');
  await page.locator('.editor-group-container.active .editor-actions .action-label[aria-label^="Send"]').click();
  await editor.hasText('1 edit to review');
  check((await editor.lens('Transcript').count()) === 0, 'there are lenses, which nobody asked for');
  await editor.picture('conversation-2-answer');

  say('ask more where the cursor is, and press the key');
  await page.keyboard.type('How many functions are there?');
  await page.keyboard.press('Control+Enter');
  await editor.until('a second look', async () => (await editor.text()).split('`read cart.go`').length === 3);

  say('correct it while it streams, and write the next prompt meanwhile');
  await page.keyboard.type('In French, please.');
  await page.keyboard.press('Control+Enter');
  await page.keyboard.type('What did ');
  await editor.until('a heading for each', async () => (await editor.text()).split('## coder').length === 4);
  await page.keyboard.type('I ask ');
  await editor.picture('conversation-3-corrected');
  say('let the other go on');
  await page.keyboard.type('for ');
  await editor.hasText('Il y en a trois.');
  await page.keyboard.type('first?');
  await editor.hasText('What did I ask for first?');
  await editor.picture('conversation-4-meanwhile');
  await editor.command('agentls: Send');
  await editor.hasText('You asked for a sentence.');
  await editor.picture('conversation-5-third');
  const all = await saved();
  same(all, `${former}\n## coder <3>\n\nYou asked for a sentence.\n\n## You\n\n`);

  say('go back to before the last prompt');
  await editor.goToLine(all.split('\n').indexOf('You asked for a sentence.') + 2); // the title is another line
  await (await editor.quickFix('Go back to before this')).click();
  await editor.until('the answer to go', async () => !(await editor.text()).includes('You asked for a sentence.'));
  await editor.picture('conversation-6-back');
  same(await saved(), former);
  await page.keyboard.press('Control+End');
  await page.keyboard.type('And then?');
  await page.keyboard.press('Control+Enter');
  await editor.hasText('A sentence, then a number.');
  same(await saved(), `${former}And then?\n\n## coder <3>\n\nA sentence, then a number.\n\n## You\n\n`);
  check((await editor.notification('Coder: done').count()) === 0, 'what the document says is told beside it');

  say('accept an edit by the lenses, once they are on');
  mkdirSync('.vscode');
  writeFileSync('.vscode/settings.json', '{"agentls.codeLens": true}\n');
  await page.keyboard.press('Control+Home');
  await editor.lens('Accept 1 edit').waitFor();
  await editor.picture('conversation-7-lenses');
  await editor.lens('Accept 1 edit').click();
  await editor.until('no edit to accept', async () => (await editor.lens('Accept 1 edit').count()) === 0);
  check((await editor.lens('Transcript').count()) > 0, 'the other lenses have gone too');
  await editor.openFile('cart.go');
  await editor.hasText('// First comes first.');
  check(readFileSync('cart.go', 'utf8') === onDisk, 'the file on disk has changed');

  say('go on from the tree');
  await editor.showSessions();
  const tab = page.locator('.tab.active', { hasText: /r\w+\.agentls\.md/ });
  await editor.chooseInRow('A sentence, then a number.', 'Continue as Conversation', tab);
  await editor.hasText('A sentence, then a number.');
  await editor.picture('conversation-8-again');
});
