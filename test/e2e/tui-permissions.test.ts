import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

/** Every message is answered with a command that makes a file, and then with the result. */
function script(request: RecordedRequest): Answer {
  const said = JSON.stringify(request.messages);
  const number = said.match(/make file/g)?.length ?? 0;
  if (toolResultRounds(request) >= number) {
    return {
      text: JSON.stringify(request.messages.at(-1)).includes('deny rule') ? 'Denied.' : 'Made.',
    };
  }
  return { toolCalls: [{ name: 'Bash', input: { command: `touch made-${number}` } }] };
}

inTerminal('rules are denied, listed, removed, and kept for the project', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  const made = (number: number): boolean => existsSync(join(sandbox.workspace, `made-${number}`));
  const env = model.env('anthropic');
  const send = async (terminal: TmuxTerminal, text: string): Promise<void> => {
    terminal.type(text);
    await terminal.sees(text);
    terminal.press('Enter');
  };
  {
    using terminal = new TmuxTerminal(sandbox, ['--deny', 'WebFetch'], { env, size: [80, 24] });
    await terminal.sees('/help');
    await send(terminal, 'make file');
    await terminal.sees('touch made-1');
    // The question waits; the rule settles it at once.
    await send(terminal, '/permissions deny Bash(touch:*)');
    await terminal.sees('Bash(touch:*) is now denied in this conversation');
    await terminal.sees('Denied.');
    expect(made(1)).toBe(false);
    await send(terminal, '/permissions deny Bsh(x)');
    await terminal.sees(/there is no tool "Bsh"; did you mean\s+Bash\?/);
    await send(terminal, '/permissions');
    const list = await terminal.sees('▶ mode');
    expect(list).toMatch(/deny +Bash\(touch:\*\) +this conversation/);
    expect(list).toMatch(/deny +WebFetch +--deny/);
    terminal.press('Escape');
    await terminal.sees('/help');
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
  }
  // The rule is in the log of the conversation.
  using terminal = new TmuxTerminal(sandbox, ['--continue'], { env, size: [80, 24] });
  await terminal.sees('Denied.');
  await send(terminal, 'make file again');
  await terminal.sees(/Denied\.[^]*Denied\./);
  expect(made(2)).toBe(false);
  await send(terminal, '/permissions');
  await terminal.sees('▶ mode');
  terminal.type('touch');
  await terminal.sees('1 match of');
  terminal.press('Enter');
  await terminal.sees('▶ Remove it');
  terminal.press('Enter');
  await terminal.sees('▶ mode');
  terminal.press('Escape');
  await terminal.sees('Bash(touch:*) is no longer denied in this conversation');
  await send(terminal, '/permissions allow project Bash(touch:*)');
  await terminal.sees('Bash(touch:*) is now allowed in this project');
  await send(terminal, 'make file the third time');
  await terminal.sees('Made.');
  expect(made(3)).toBe(true);
  const listed = await world.run(['trust', 'list']);
  expect(listed.stdout).toContain('Bash(touch:*)');
});

inTerminal('plain lines list the rules and take the same commands', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  const env = model.env('anthropic');
  using terminal = new TmuxTerminal(sandbox, ['--screen-reader'], { env });
  await terminal.sees('Type what you want done.');
  terminal.type('/permissions deny Bash(touch:*)');
  terminal.press('Enter');
  await terminal.sees('Bash(touch:*) is now denied in this conversation');
  terminal.type('/permissions');
  terminal.press('Enter');
  await terminal.sees('Permissions: mode default');
  await terminal.sees(/deny +Bash\(touch:\*\) +\(this conversation\)/);
  terminal.type('make file');
  terminal.press('Enter');
  await terminal.sees('Denied.');
  terminal.type('/permissions remove Bash(touch:*)');
  terminal.press('Enter');
  await terminal.sees('is no longer denied in this conversation');
});

inTerminal('rules for a conversation that has not begun outlive a restart of Muster', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  using terminal = new TmuxTerminal(sandbox, [], { env: model.env('anthropic'), size: [80, 24] });
  await terminal.sees('/help');
  terminal.type('/permissions deny Bash(touch:*)');
  terminal.press('Enter');
  await terminal.sees('Bash(touch:*) is now denied in this conversation');
  terminal.type('/restart');
  await terminal.sees('→ /restart');
  terminal.press('Enter');
  await terminal.sees('Muster was opened again');
  terminal.type('make file');
  terminal.press('Enter');
  await terminal.sees('Denied.');
  expect(existsSync(join(sandbox.workspace, 'made-1'))).toBe(false);
});
