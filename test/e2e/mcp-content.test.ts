import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld, type World } from './world.ts';

const SERVER = join(import.meta.dirname, '../mcp/servers/content.mjs');

/** Opens a world with the server `notes`. */
async function openNotes(): Promise<World> {
  const world = await openWorld({ script: () => ({ text: 'It is fine.' }) });
  const file = join(world.sandbox.home, '.config/muster/mcp.json');
  mkdirSync(dirname(file), { recursive: true });
  const notes = { command: process.execPath, args: [SERVER] };
  writeFileSync(file, JSON.stringify({ mcpServers: { notes } }));
  return world;
}

const lastSaid = ({ model }: World): string =>
  JSON.stringify(model.requests.at(-1)?.messages.at(-1));

describe.concurrent('a prompt of an MCP server', () => {
  it('is sent with -p, and is not sent without its required arguments', async () => {
    await using world = await openNotes();
    const refused = await world.run(['-p', '/notes:review']);
    expect(refused).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr:
        'muster: INVALID_PARAM: /notes:review needs the argument file (the file to review); usage: /notes:review FILE [STYLE]\n',
    });
    expect(world.model.requests.length).toBe(0);
    const run = await world.run(['-p', '/notes:review a.ts, as in @notes:issue://2'], {
      stdin: 'more',
    });
    expect([run.stdout, run.stderr]).toEqual(['It is fine.\n', '']);
    expect(lastSaid(world)).toContain(
      '\\nReview a.ts,. Follow the style as in @notes:issue://2.\\n',
    );
    expect(lastSaid(world)).toContain('The door squeaks.');
  });
});

it.runIf(needs('tmux', 'tmux'))('the terminal UI completes prompts and resources', async () => {
  await using world = await openNotes();
  const { sandbox, model } = world;
  // Prompts are listed from the record.
  await world.run(['mcp', 'accept', 'notes']);
  using terminal = new TmuxTerminal(sandbox, [], { env: model.env('anthropic'), size: [100, 30] });
  await terminal.sees('/help');
  terminal.type('/notes:rev');
  await terminal.sees('notes says: Reviews a file.');
  // Enter completes the name and sends nothing.
  terminal.press('Enter');
  terminal.press('Enter');
  await terminal.sees('needs the argument file (the file to review)');
  expect(terminal.screen()).toMatch(/\/notes:review/);
  terminal.type('a');
  await terminal.sees('→ a.ts');
  terminal.press('Tab');
  terminal.type('style=sh');
  await terminal.sees('→ short');
  terminal.press('Tab');
  terminal.press('Enter');
  await terminal.sees('Review a.ts. Follow the style short.');
  await terminal.sees('+ @notes:notes://style');
  await terminal.sees('It is fine.');
  terminal.type('Look at @notes:issue://');
  await terminal.sees('notes:issue://12');
  terminal.press('Tab');
  terminal.press('Enter');
  await terminal.sees('+ @notes:issue://1');
  await waitUntilPasses(() =>
    expect(lastSaid(world)).toContain('The wheel turns in one direction only.'),
  );
});
