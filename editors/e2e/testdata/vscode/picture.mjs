// The README's picture: a coder has had the sample project reviewed by children, by the offline rules. PICTURE names
// the SVG.
import { writeFileSync } from 'node:fs';
import { story } from './editor.mjs';
import { svg } from './svg.mjs';

await story(process.cwd(), {
  'workbench.colorTheme': 'Default Dark Modern', 'window.commandCenter': false, 'breadcrumbs.enabled': false,
  'workbench.layoutControl.enabled': false,
}, async (editor, page) => {
  await page.setViewportSize({ width: 1180, height: 680 });
  await page.getByRole('button', { name: 'Yes, I trust the authors' }).click();
  await editor.openFile('scripts/report.py');
  await page.locator('.statusbar-item[id*="agentls"]', { hasText: 'agentls' }).first().waitFor();
  await editor.showSessions();
  await editor.command('agentls: Run an Agent…');
  await editor.choose('Run an Agent', 'Coder');
  await editor.enter('What shall Coder do?', 'Review everything in this workspace.');
  await editor.notified(/Coder: done/);
  // A wider side bar, so that each agent's line can be read.
  const sash = page.locator('.monaco-sash.vertical:not(.disabled)').first();
  const at = await sash.boundingBox();
  await page.mouse.move(at.x + 2, 300);
  await page.mouse.down();
  await page.mouse.move(at.x + 80, 300, { steps: 5 });
  await page.mouse.up();
  await page.mouse.move(700, 400);
  await editor.lens(/^\s*Accept$/).first().waitFor();
  await editor.picture('picture');
  writeFileSync(process.env.PICTURE, await svg(page));
});
