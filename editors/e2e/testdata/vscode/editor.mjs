// A real VS Code: code-server with the real extension host, driven in Chromium. A story waits for what a user would
// see.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';

const env = (name) => {
  const value = process.env[name];
  if (!value) {
    throw new Error(`${name} is not set`);
  }
  return value;
};

const { chromium } = createRequire(join(env('AGENTLS_CODE_MODULES'), 'here'))('playwright-core');

// A watchdog for one step: nothing but a fault takes so long.
const patience = Number(process.env.AGENTLS_PATIENCE || 120_000);

// What is noise or asks the network; the model is the one of the environment.
const settings = {
  'security.workspace.trust.startupPrompt': 'always',
  'security.workspace.trust.banner': 'never',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.settings.enableNaturalLanguageSearch': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'git.enabled': false,
  'workbench.reduceMotion': 'on',
  'editor.minimap.enabled': false,
  'files.autoSave': 'off',
  'window.restoreWindows': 'none',
  'accessibility.signalOptions.volume': 0,
};

export class Editor {
  // Starts the server and opens a folder in the browser. The environment is the story's own.
  static async open(folder, more = {}) {
    const home = env('HOME');
    const data = join(home, 'vscode');
    const extensions = join(home, 'extensions');
    // Without it the extension starts the server that it brings.
    const path = process.env.AGENTLS_BIN ? { 'agentls.path': process.env.AGENTLS_BIN } : {};
    // What belongs to a machine counts on the side of the server alone.
    for (const side of ['User', 'Machine']) {
      mkdirSync(join(data, side), { recursive: true });
      writeFileSync(join(data, side, 'settings.json'), JSON.stringify({ ...settings, ...path, ...more }));
    }
    const common = [
      '--user-data-dir', data, '--extensions-dir', extensions, '--config', join(home, 'code-server.yaml'),
    ];
    writeFileSync(join(home, 'code-server.yaml'), '');
    const start = (...args) => spawn(
      process.execPath, [env('AGENTLS_CODE_SERVER'), ...common, ...args], { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const said = (child) => {
      let text = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (piece) => (text += piece));
      }
      return () => text;
    };

    if (process.env.AGENTLS_LENDER) {
      cpSync(process.env.AGENTLS_LENDER, join(extensions, 'test.lender-0.0.1'), { recursive: true });
    }
    const install = start('--install-extension', env('AGENTLS_VSIX'));
    const installed = said(install);
    const code = await new Promise((resolve, reject) => install.on('error', reject).on('close', resolve));
    if (code !== 0) {
      throw new Error(`the extension was not installed: ${installed()}`);
    }

    const editor = new Editor();
    editor.server = start(
      '--bind-addr', '127.0.0.1:0', '--auth', 'none', '--disable-telemetry', '--disable-update-check',
      '--disable-getting-started-override',
    );
    editor.said = said(editor.server);
    try {
      const address = await new Promise((resolve, reject) => {
        editor.server.on('close', () => reject(new Error(`code-server ended: ${editor.said()}`)));
        editor.server.stdout.on('data', () => {
          const found = /HTTP server listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(editor.said());
          if (found) {
            resolve(found[1]);
          }
        });
      });
      editor.browser = await chromium.launch({
        executablePath: env('AGENTLS_CODE_CHROMIUM'),
        args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage'],
      });
      const context = await editor.browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 });
      editor.page = await context.newPage();
      editor.page.setDefaultTimeout(patience);
      editor.console = [];
      editor.page.on('console', (message) => editor.console.push(message.text()));
      await editor.page.goto(`${address}/?folder=${encodeURIComponent(folder)}`);
      await editor.page.waitForSelector('.monaco-workbench');
    } catch (error) {
      await editor.close();
      throw error;
    }
    return editor;
  }

  // Ends the browser and the server, and waits for both.
  async close() {
    await this.browser?.close();
    if (this.server.exitCode === null && this.server.signalCode === null) {
      const ended = new Promise((resolve) => this.server.on('close', resolve));
      this.server.kill('SIGTERM');
      await ended;
    }
  }

  // Keeps a picture where the story's caller wants some.
  async picture(name) {
    const folder = process.env.AGENTLS_PICTURES;
    if (folder) {
      mkdirSync(folder, { recursive: true });
      await this.page.screenshot({ path: join(folder, `${name}.png`) });
    }
  }

  // Waits until a look at the page finds something.
  async until(what, look) {
    const end = Date.now() + patience;
    for (;;) {
      const found = await look();
      if (found) {
        return found;
      }
      if (Date.now() > end) {
        throw new Error(`waited in vain for ${what}`);
      }
      await this.page.waitForTimeout(100);
    }
  }

  // Runs a command by its title in the palette.
  async command(title) {
    await this.quickly(
      'F1', `>${title}`,
      (list, timeout) => list.locator('.monaco-list-row', { hasText: title }).first().click({ timeout }),
    );
  }

  // Trusts the folder, opens a file, and waits for the extension.
  async begin(file) {
    await this.page.getByRole('button', { name: 'Yes, I trust the authors' }).click();
    await this.beginTrusted(file);
  }

  // The same where folders are trusted from the start.
  async beginTrusted(file) {
    await this.openFile(file);
    await this.page.locator('.statusbar-item[id*="agentls"]', { hasText: 'agentls' }).first().waitFor();
  }

  // Shows the view, and waits until it has the focus: it would close the list of the next command.
  async showSessions() {
    await this.command('agentls: Show Sessions');
    await this.page.waitForFunction(() => document.activeElement?.closest('.part.sidebar'));
  }

  // Has an agent do something, from the palette.
  async run(agent, prompt) {
    await this.command('agentls: Run an Agent…');
    await this.choose('Run an Agent', agent);
    await this.enter(`What shall ${agent} do?`, prompt);
  }

  // The agents that can be run, as soon as the server answers; a window that is busy can close their list.
  async agents() {
    const rows = this.page.locator('.quick-input-list .monaco-list-row');
    return this.until('an answer of the server', async () => {
      await this.command('agentls: Run an Agent…');
      const answered = await rows.filter({ hasText: 'Coder' }).first().waitFor({ timeout: 5000 }).then(() => true, () => false);
      const found = answered && (await rows.allInnerTexts());
      await this.page.keyboard.press('Escape');
      return found;
    });
  }

  async openFile(name) {
    const file = name.slice(name.lastIndexOf('/') + 1);
    await this.quickly(
      'F1', name, (list, timeout) => list.locator('.monaco-list-row', { hasText: file }).first().click({ timeout }),
    );
    await this.page.locator('.tab.active', { hasText: file }).waitFor();
    await this.page.locator('.editor-instance .view-lines').first().waitFor();
  }

  async goToLine(line) {
    await this.quickly('Control+g', `:${line}`, () => this.page.keyboard.press('Enter'));
  }

  // Opens the quick input by a key, writes into it, and does what ends it. The input of the step before may still be
  // closing.
  async quickly(key, text, finish) {
    const widget = this.page.locator('.quick-input-widget');
    await this.repeatedly(`${key} ${text}`, async (timeout) => {
      await widget.waitFor({ state: 'hidden', timeout });
      await this.page.keyboard.press(key);
      await this.focused(timeout);
      await widget.locator('input.input').fill(text, { timeout });
      await finish(widget.locator('.quick-input-list'), timeout);
    });
  }

  // Does something that begins with a key until it succeeds: a key can be swallowed while the window is busy.
  async repeatedly(what, act) {
    let timeout = 2000; // longer each time: a busy window may need it
    await this.until(what, async () => {
      timeout = Math.min(2 * timeout, patience);
      try {
        await act(timeout);
        return true;
      } catch (error) {
        if (error.name !== 'TimeoutError') {
          throw error;
        }
        console.log(`again: ${what}: ${error.message.split('\n')[0]}`);
        await this.page.keyboard.press('Escape');
        return false;
      }
    });
  }

  // Opens the quick fixes of the cursor's line, and returns the entry of a label.
  async quickFix(label) {
    const entry = this.page.locator('.action-widget .monaco-list-row', { hasText: label }).first();
    await this.repeatedly(`the quick fix ${label}`, async (timeout) => {
      await this.page.keyboard.press('Control+.');
      await entry.waitFor({ timeout });
    });
    return entry;
  }

  // Waits until the quick input takes keys.
  async focused(timeout) {
    await this.page.waitForFunction(
      () => document.activeElement?.matches('.quick-input-widget input.input'), undefined, { timeout },
    );
  }

  // Takes an entry of a list that a command has opened under a title.
  async choose(title, label) {
    const widget = this.page.locator('.quick-input-widget', { hasText: title });
    await widget.waitFor();
    await widget.locator('.quick-input-list .monaco-list-row', { hasText: label }).first().click();
    await widget.waitFor({ state: 'hidden' });
  }

  // Answers an input box that a command has opened under a title.
  async enter(title, text) {
    const box = this.page.locator('.quick-input-widget', { hasText: title });
    await box.waitFor();
    await this.focused(patience);
    await box.locator('input.input').fill(text);
    await this.page.keyboard.press('Enter');
    await box.waitFor({ state: 'hidden' });
  }

  notification(text) {
    return this.page.locator(
      '.notification-toast, .notifications-center .notification-list-item', { hasText: text },
    ).first();
  }

  // Waits for a notification. VS Code floats three of those that come within 0.8 s; the rest are in its list alone.
  async notified(text) {
    const found = this.notification(text);
    if (!(await found.waitFor({ timeout: 5000 }).then(() => true, () => false))) {
      await this.command('Notifications: Show Notifications');
      await found.waitFor();
    }
    return found;
  }

  // Presses a button of a notification.
  async press(text, button) {
    await (await this.notified(text)).locator('.monaco-button', { hasText: button }).first().click();
  }

  // A text in what is shown beside the code: an answer, or a transcript.
  beside(text) {
    return this.page.frameLocator('iframe.webview.ready').frameLocator('#active-frame').getByText(text).first();
  }

  lens(text) {
    return this.page.locator('.codelens-decoration a', { hasText: text });
  }

  // A line of the tree.
  row(text) {
    return this.page.locator('.pane-body .monaco-list-row', { hasText: text });
  }

  // Presses a button that stands in a line of the tree while the mouse is over it, until that has done something: lines
  // are drawn anew while agents work, and a click can fall between.
  async pressInRow(text, button, done) {
    const row = this.row(text).first();
    await this.until(`${button} at ${text}`, async () => {
      if (await done()) {
        return true;
      }
      try {
        await row.hover({ timeout: 5000 });
        await row.locator(`.action-label[aria-label^="${button}"]`).first().click({ timeout: 5000 });
      } catch (error) {
        if (error.name !== 'TimeoutError') {
          throw error;
        }
      }
      return false;
    });
  }

  // Takes an entry of the menu of a line of the tree, and waits for what it shows.
  async chooseInRow(text, entry, shown) {
    const item = this.page.locator('.monaco-menu').getByText(entry);
    await this.repeatedly(`${entry} at ${text}`, async (timeout) => {
      await this.row(text).first().click({ button: 'right', timeout });
      await item.waitFor({ timeout });
      // A menu swallows clicks that come within 100 ms of its opening.
      await this.until(`the end of the menu with ${entry}`, async () => {
        await item.click({ timeout: 1000 }).catch(() => {}); // it may have gone by the click before
        return !(await item.isVisible());
      });
      await shown.waitFor({ timeout });
    });
  }

  // Kills the process of this story whose command line ends in some words, and waits until it has gone.
  async kill(words) {
    const [pid] = await this.until(`a process ${words}`, () => {
      const found = processes(words);
      return found.length > 0 && found;
    });
    process.kill(Number(pid), 'SIGKILL');
    await this.until(`the end of ${words}`, () => !processes(words).includes(pid));
  }

  // The text of the editor, as far as it is on the screen.
  async text() {
    const lines = await this.page.locator('.editor-instance .view-line').evaluateAll((lines) =>
      lines
        .map((line) => [parseFloat(line.style.top), line.textContent])
        .sort((a, b) => a[0] - b[0])
        .map(([, text]) => text.replace(/\u00a0/g, ' ')),
    );
    return lines.join('\n');
  }

  async hasText(text) {
    await this.until(`the text ${JSON.stringify(text)}`, async () => (await this.text()).includes(text));
  }
}

// The processes of this story whose command line ends in some words.
function processes(words) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
        return command.endsWith(words)
          && readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${process.env.HOME}`);
      } catch {
        return false; // it has ended meanwhile, or is somebody else's
      }
    });
}

// Plays a story, and ends the process with what came of it.
export async function story(folder, more, play) {
  let editor;
  let code = 0;
  try {
    editor = await Editor.open(folder, more);
    await play(editor, editor.page);
    console.log('the story came to its end');
  } catch (error) {
    code = 1;
    console.log(error.stack);
    if (editor?.page) {
      await editor.picture(`failed-${basename(process.argv[1], '.mjs')}`).catch(() => {});
      console.log(await editor.page.locator('body').innerText().catch(() => ''));
      console.log(editor.console.slice(-40).join('\n'));
    }
  } finally {
    await editor?.close();
  }
  process.exit(code);
}

// check fails the story.
export function check(fine, message) {
  if (!fine) {
    throw new Error(message);
  }
}
