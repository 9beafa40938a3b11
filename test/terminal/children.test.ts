import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { openWorld } from '../e2e/world.ts';
import {
  delegate,
  inTerminal,
  isChild,
  openTerminal,
  roundsOf,
  run,
  send,
  typedText,
} from './story.ts';

const BACKGROUND = { run_in_background: true };

const LEAD = {
  name: 'Task',
  input: { prompt: 'lead', description: 'the lead', subagent_type: 'lead' },
};

/** Children work as long as their prompts say; one of them has a child of its own. */
function script(request: RecordedRequest): Answer {
  const said = JSON.stringify(request.messages);
  if (isChild(request)) {
    const last = typedText(request);
    if (last.includes('once more')) return { text: 'It was done once more.' };
    if (said.includes('lead') && toolResultRounds(request) === 0) {
      return { toolCalls: [delegate('endless below', 'below')] };
    }
    return said.includes('endless') ? { delayMs: 60_000, text: 'late' } : { text: 'It is short.' };
  }
  if (roundsOf(request) > 0) {
    return said.includes('and wait') ? { delayMs: 60_000, text: 'late' } : { text: 'It goes on.' };
  }
  const message = typedText(request);
  if (message.includes('lead')) return { toolCalls: [LEAD] };
  if (message.includes('endless')) return { toolCalls: [delegate('endless', 'long', BACKGROUND)] };
  if (message.includes('short')) return { toolCalls: [delegate('short', 'short', BACKGROUND)] };
  return { text: 'Noted.' };
}

inTerminal('the second Esc stops all tasks, and two more open the list of messages', async () => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world);
  await send(terminal, 'endless and wait');
  const started = await terminal.sees(/bg long · waiting for the first token/);
  expect(started).toMatch(
    /● Task general-purpose: long +in the background, \w{6}: ctrl\+t, \/tasks/,
  );
  // Esc closes a list first.
  await run(terminal, '/tasks');
  await terminal.sees('enter opens');
  terminal.press('Escape');
  await terminal.sees('esc stop');
  terminal.press('Escape');
  await terminal.sees('esc again stops 1 background task');
  terminal.press('Escape');
  await terminal.sees('shift+tab mode');
  const { stdout } = await world.run(['tasks', 'list', '--all', '--json']);
  const tasks: readonly { readonly status: string }[] = JSON.parse(stdout);
  expect(tasks.map(({ status }) => status)).toEqual(['stopped', 'stopped']);
});

inTerminal('a stop asks once more if children are at work', async () => {
  await using world = await openWorld({ script });
  const agents = join(world.sandbox.home, '.config/muster/agents');
  mkdirSync(agents, { recursive: true });
  const definition =
    '---\nname: lead\ndescription: leads the work of others\ntools: Task\n---\nLead.\n';
  writeFileSync(join(agents, 'lead.md'), definition);
  using terminal = await openTerminal(world);
  await send(terminal, 'lead');
  await terminal.sees(/general-purpose \w+ below · waiting for the first token/);
  terminal.press('C-t', 'Enter');
  const opened = await terminal.sees(/← lead \w+: the lead/);
  expect(opened).toMatch(/the lead +default · anthropic\//);
  terminal.press('C-x');
  await terminal.sees('has 1 task at work: press it again to stop it');
  terminal.press('C-x');
  await terminal.sees(/stopped/);
  terminal.press('Escape');
  await terminal.sees(/■ Task lead: the lead/);
});

inTerminal('connecting is told from waiting for the first token', async () => {
  await using world = await openWorld({ script: () => ({ delayMs: 60_000, text: 'late' }) });
  // A server that accepts connections and never speaks TLS.
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  try {
    const env = { ANTHROPIC_BASE_URL: `https://127.0.0.1:${port}` };
    using terminal = await openTerminal(world, { env });
    await send(terminal, 'Hello');
    const connecting = await terminal.sees(/● main connecting/);
    expect(connecting).not.toContain('waiting for the first token');
  } finally {
    silent.close();
  }
  using terminal = await openTerminal(world);
  await send(terminal, 'Hello');
  const waiting = await terminal.sees(/● main waiting for the first token/);
  expect(waiting).not.toContain('connecting');
});

inTerminal('each further reply of a child in the background has a line', async () => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world);
  await send(terminal, 'short');
  await terminal.sees(/✓ general-purpose: short completed in the background/);
  await terminal.sees('shift+tab mode');
  await run(terminal, '/tasks');
  await terminal.sees('enter opens');
  terminal.type('general');
  await terminal.sees(/▶ .*general-purpose: short/);
  terminal.press('Enter');
  await terminal.sees(/← general-purpose \w+: short/);
  await send(terminal, 'once more');
  await terminal.sees('It was done once more.');
  terminal.press('Escape');
  await terminal.sees(
    /✓ general-purpose: short completed in the background[^]*✓ general-purpose: short completed/,
  );
});
