import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { startKeyServer, type KeyServer } from './key-server.ts';
import { Sandbox } from './muster.ts';
import { TmuxTerminal } from './tmux.ts';

const KEY = 'sk-typed-key-0123456789';
const CREDENTIALS = 'credentials.json';

function openLogin(
  sandbox: Sandbox,
  server: KeyServer,
  args: readonly string[],
  options: { readonly onStopped?: string } = {},
): TmuxTerminal {
  return new TmuxTerminal(sandbox, ['login', ...args], {
    env: { OPENROUTER_BASE_URL: server.url },
    size: [120, 45],
    ...options,
  });
}

/** Types a text into the program that runs after Muster, and waits until the terminal shows it. */
async function expectEcho(terminal: TmuxTerminal): Promise<void> {
  terminal.type('echo is on');
  await terminal.sees('echo is on');
}

describe.runIf(needs('tmux', 'tmux'))('muster login on a terminal', () => {
  it('lists the providers, asks for one and for the key, and shows nothing of the key', async () => {
    await using server = await startKeyServer({ keys: new Set([KEY]) });
    using sandbox = new Sandbox();
    using terminal = openLogin(sandbox, server, []);
    const list = await terminal.sees('Provider (number or name):');
    expect(list).toMatch(
      /^ 4 {2}openrouter {2}OpenRouter .* no key .* https:\/\/openrouter\.ai\/keys$/m,
    );
    expect(list).toMatch(/^18 {2}ollama .* needs no key by default$/m);
    terminal.type('opnrouter');
    terminal.press('Enter');
    await terminal.sees('There is no provider "opnrouter". Do you mean openrouter?');
    terminal.type('4');
    terminal.press('Enter');
    const asked = await terminal.sees('API key of OpenRouter (what you type is not shown):');
    expect(asked).toContain('Create a key on https://openrouter.ai/keys');
    expect(asked).toContain(`The key will be sent to ${server.url}`);
    // Corrected as in any other line.
    terminal.type('sk-typo');
    terminal.press('C-u');
    terminal.type(`${KEY}x`);
    terminal.press('BSpace', 'Enter');
    const end = await terminal.sees('exit 0');
    expect(end).toContain('OpenRouter accepts the key.');
    expect(end).toContain('muster models');
    expect(end).not.toMatch(/sk-ty|\*\*/);
    expect(readFileSync(join(sandbox.data, CREDENTIALS), 'utf8')).toContain(`"${KEY}"`);
    await expectEcho(terminal);
  });

  it('takes a pasted key', async () => {
    await using server = await startKeyServer({ keys: new Set([KEY]) });
    using sandbox = new Sandbox();
    using terminal = openLogin(sandbox, server, ['openrouter']);
    await terminal.sees('is not shown):');
    terminal.paste(`  ${KEY}\n`);
    expect(await terminal.sees('exit 0')).not.toContain('sk-typed');
    await expectEcho(terminal);
  });

  it.each([
    ['Ctrl+C', 'C-c', 'exit 130'],
    ['Ctrl+D', 'C-d', 'exit 2'],
  ])('ends with %s, with the terminal as it was', async (_, key, end) => {
    await using server = await startKeyServer({ keys: new Set([KEY]) });
    using sandbox = new Sandbox();
    using terminal = openLogin(sandbox, server, ['openrouter']);
    await terminal.sees('is not shown):');
    if (key === 'C-c') terminal.type('sk-half');
    terminal.press(key);
    expect(await terminal.sees(end)).not.toContain('sk-half');
    expect([server.seen, existsSync(join(sandbox.data, CREDENTIALS))]).toEqual([[], false]);
    await expectEcho(terminal);
  });

  it('goes on after Ctrl+Z, and shows nothing then either', async () => {
    await using server = await startKeyServer({ keys: new Set([KEY]) });
    using sandbox = new Sandbox();
    using terminal = openLogin(sandbox, server, ['openrouter'], { onStopped: 'fg' });
    await terminal.sees('is not shown):');
    terminal.type(KEY.slice(0, 8));
    terminal.press('C-z');
    await terminal.sees('stopped 148');
    terminal.press('Enter');
    await terminal.sees(/is not shown\):[^]*is not shown\):/);
    terminal.type(KEY.slice(8));
    terminal.press('Enter');
    expect(await terminal.sees('OpenRouter accepts the key.')).not.toContain('sk-typed');
  });

  it('offers to store a key that could not be tried', async () => {
    const server = await startKeyServer({ keys: new Set() });
    await server[Symbol.asyncDispose]();
    using sandbox = new Sandbox();
    for (const [answer, end] of [
      ['n', 'exit 1'],
      ['y', 'exit 0'],
    ] as const) {
      using terminal = openLogin(sandbox, server, ['openrouter']);
      await terminal.sees('is not shown):');
      terminal.type(KEY);
      terminal.press('Enter');
      await terminal.sees('Store it anyway? [y/N]');
      terminal.type(answer);
      terminal.press('Enter');
      await terminal.sees(end);
      expect(existsSync(join(sandbox.data, CREDENTIALS))).toBe(answer === 'y');
    }
  });
});
