import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

/** The main agent has a child touch a file, or is at work without an end. */
function script(request: RecordedRequest): Answer {
  const said = JSON.stringify(request.messages);
  if (request.system.includes('subagent of Muster')) {
    if (toolResultRounds(request) > 0) return { text: 'It was not to be.' };
    return { toolCalls: [{ name: 'Bash', input: { command: 'touch made' } }] };
  }
  if (said.includes('work on')) return { delayMs: 60_000, text: 'late' };
  if (toolResultRounds(request) > 0) return { text: 'First line.\nThe child was refused.' };
  const input = { prompt: 'touch a file', description: 'make a file' };
  return { toolCalls: [{ name: 'Task', input }] };
}

inTerminal.each([
  ['--screen-reader', ['--screen-reader'], {}],
  ['MUSTER_SCREEN_READER', [], { MUSTER_SCREEN_READER: '1' }],
  ['TERM=dumb', [], { TERM: 'dumb' }],
] as const)('in plain lines by %s: delegate, refuse, stop, leave', async (_, args, extra) => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  const env = { ...model.env('anthropic'), ...extra };
  using terminal = new TmuxTerminal(sandbox, args, { env });
  await terminal.sees('Type what you want done.');
  terminal.type('Make a file');
  terminal.press('Enter');
  const asked = await terminal.sees('Type y for once');
  expect(asked).toMatch(/Task \w+ general-purpose begins: make a file/);
  expect(asked).toContain('Question: main > general-purpose “make a file” asks to run Bash.');
  terminal.type('n not now');
  terminal.press('Enter');
  await terminal.sees(/The child was refused\.\n(> )?Ready\./);
  expect(existsSync(join(sandbox.workspace, 'made'))).toBe(false);
  terminal.type('work on');
  terminal.press('Enter');
  // The request is out.
  await waitUntilPasses(() => {
    expect(model.requests.length).toBe(5);
  });
  terminal.press('C-c');
  await terminal.sees('Press Ctrl+C again to leave');
  terminal.press('C-c');
  const left = await terminal.sees('exit 0');
  expect(left).toMatch(/muster --resume \w+/);
  expect(left).not.toMatch(/[┌│└─●]/u);
});
