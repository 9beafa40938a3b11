import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { waitForMarked } from './processes.ts';
import { TmuxTerminal } from './tmux.ts';
import { callsInTurn, lastResults, openWorld, type World } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));
const ASKER = join(import.meta.dirname, '../mcp/servers/asker.cjs');

/** Opens a world with the server `demo`, whose tool the main agent calls. */
async function openAskingWorld(tool: string): Promise<World> {
  const world = await openWorld({
    script: callsInTurn([{ name: `mcp__demo__${tool}`, input: {} }]),
  });
  const file = join(world.sandbox.home, '.config/muster/mcp.json');
  mkdirSync(dirname(file), { recursive: true });
  const demo = { command: process.execPath, args: [ASKER] };
  writeFileSync(file, JSON.stringify({ mcpServers: { demo } }));
  return world;
}

const ALLOW = ['--allow', 'mcp__demo'];

inTerminal('a form of a server is shown, checked, corrected and sent', async () => {
  await using world = await openAskingWorld('book');
  const { sandbox, model } = world;
  using terminal = new TmuxTerminal(sandbox, ALLOW, {
    env: model.env('anthropic'),
    size: [80, 24],
  });
  await terminal.sees('/help');
  terminal.type('Book a room');
  terminal.press('Enter');
  const asked = await terminal.sees('fill it in');
  expect(asked).toContain('passes on a question of MCP server demo');
  expect(asked).toContain('The MCP server demo asks this, not Muster.');
  expect(asked).toContain('> Which room do you want?');
  expect(asked).toContain('nights: whole number, 1 to 30, required, default 2');
  terminal.press('Tab', 't');
  await terminal.sees('nights: 2');
  terminal.press('Enter');
  await terminal.sees('the field city is required');
  expect(asked.split('\n').length).toBeLessThanOrEqual(25);
  terminal.press('C-g');
  await terminal.sees('nothing');
});
