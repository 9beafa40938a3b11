import { describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { Sandbox } from './muster.ts';
import { TmuxTerminal } from './tmux.ts';

const MENU = 'Choose 1, 2 or 3';

function open(sandbox: Sandbox, env: Readonly<Record<string, string>> = {}): TmuxTerminal {
  return new TmuxTerminal(sandbox, [], { env, size: [110, 40] });
}

function choose(terminal: TmuxTerminal, choice: string): void {
  terminal.type(choice);
  terminal.press('Enter');
}

describe.runIf(needs('tmux', 'tmux'))('a first start without a model', () => {
  it('says what was looked for, and goes on without a model if the user wants that', async () => {
    using sandbox = new Sandbox({ 'retry.ts': 'export const retryLimit = 3;\n' });
    using terminal = open(sandbox, { CLAUDE_CODE_USE_BEDROCK: '1' });
    const offer = await terminal.sees(MENU);
    expect(offer).toContain('Muster found no model: the environment has no key');
    expect(offer).toContain('CLAUDE_CODE_USE_BEDROCK has no effect');
    choose(terminal, 'x');
    choose(terminal, '3');
    await terminal.sees('no model is configured: the offline search engine answers');
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
  });

  it('offers the choices again after a sign-in that was given up, and after a search that found nothing', async () => {
    using sandbox = new Sandbox();
    using terminal = open(sandbox);
    await terminal.sees(MENU);
    choose(terminal, '1');
    await terminal.sees('Provider (number or name):');
    terminal.press('C-d');
    await terminal.sees('muster: no provider was chosen');
    choose(terminal, '2');
    await terminal.sees(/no provider was chosen[^]*Muster found no model/);
    terminal.press('C-d');
    await terminal.sees('exit 0');
  });

  it('is not asked about if the configuration names the offline search', async () => {
    using sandbox = new Sandbox();
    using terminal = open(sandbox, { MUSTER_MODELS_DEFAULT: 'offline' });
    const screen = await terminal.sees('offline');
    expect(screen).not.toContain(MENU);
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
  });
});
