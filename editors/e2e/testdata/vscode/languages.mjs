// What VS Code's own servers for TypeScript and JSON know of unsaved text is lent to an agent.
import { readFileSync } from 'node:fs';
import { check, story } from './editor.mjs';

const more = `
export const cheap: string = total([1, 2]);
export const dear = total([100]);
`;

// VS Code's own extension for TypeScript is not there before the folder is trusted, and sometimes not after that
// either: trusted from the start.
const settings = {
  'security.workspace.trust.enabled': false, 'editor.autoIndent': 'none', 'editor.autoClosingBrackets': 'never',
  'typescript.tsserver.useSyntaxServer': 'never',
};

await story(process.cwd(), settings, async (editor, page) => {
  const say = (text) => console.log(text);
  const append = async (file, text, problem) => {
    await editor.openFile(file);
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText(text);
    await page.locator('.squiggly-error').first().waitFor();
    say(`${file}: ${problem}`);
  };

  await editor.beginTrusted('cart.ts');
  await append('shop.json', '{', 'JSON has but one value');
  await append('cart.ts', more, 'a number is no string');
  await editor.picture('languages-1-problem');
  await editor.run('Coder', 'Look at it.');
  await editor.beside('That was all.').waitFor();
  await editor.picture('languages-2-answer');
  check(!readFileSync('cart.ts', 'utf8').includes('cheap'), 'the file was saved');
});
