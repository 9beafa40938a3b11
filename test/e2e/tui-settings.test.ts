import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Answer } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

const script = (): Answer => ({ text: 'Done.' });

const CONFIG = '# mine\n[task_tool]\nmax_depth = 3 # deep enough\n';

/** A world whose user has a configuration file. */
async function openConfiguredWorld() {
  const world = await openWorld({ script });
  const directory = join(world.sandbox.home, '.config/muster');
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'config.toml');
  writeFileSync(file, CONFIG);
  return { world, file };
}

inTerminal('/config lists the settings, and writes the chosen value into the file', async () => {
  const { world: opened, file } = await openConfiguredWorld();
  await using world = opened;
  const { sandbox, model } = world;
  using terminal = new TmuxTerminal(sandbox, [], { env: model.env('anthropic'), size: [80, 24] });
  await terminal.sees('/help');
  terminal.type('/config');
  await terminal.sees('→ /config');
  terminal.press('Enter');
  await terminal.sees('task_tool.enabled');
  terminal.type('max_depth');
  const shown = await terminal.sees('▶ task_tool.max_depth');
  expect(shown).toContain('how deep tasks may nest');
  expect(shown).toContain('from     ' + file + ':3');
  expect(shown).toContain('default  2');
  terminal.press('Enter');
  await terminal.sees('takes    a whole number from 0 to 32');
  terminal.press('C-u');
  terminal.type('99');
  terminal.press('Enter');
  await terminal.sees('must be a whole number from 0 to 32, not "99"');
  terminal.press('BSpace', 'BSpace');
  terminal.type('5');
  terminal.press('Enter');
  await terminal.sees('saved; it applies after /restart');
  expect(readFileSync(file, 'utf8')).toBe(CONFIG.replace('3', '5'));
  expect(terminal.screen()).toContain('▶ task_tool.max_depth');
  terminal.type('terminal detail');
  await terminal.sees('▶ terminal.detail');
  terminal.press('Enter');
  await terminal.sees('▶ full in use');
  terminal.press('Down', 'Enter');
  await terminal.sees(/saved *$/m);
  expect(readFileSync(file, 'utf8')).toBe(
    `${CONFIG.replace('3', '5')}\n[terminal]\ndetail = "short"\n`,
  );
  terminal.press('Escape');
  await terminal.sees('terminal.detail = "short"');
  terminal.type('/config terminal.detail loud');
  terminal.press('Enter');
  await terminal.sees('terminal.detail must be one of full, short, not "loud"');
});

inTerminal('/status says what the session works with, and never the key', async () => {
  const { world: opened, file } = await openConfiguredWorld();
  await using world = opened;
  const { sandbox, model } = world;
  const env = { ...model.env('anthropic'), ANTHROPIC_API_KEY: 'sk-ant-very-secret-key' };
  using terminal = new TmuxTerminal(sandbox, [], { env, size: [100, 30] });
  await terminal.sees('/help');
  terminal.type('Say something');
  terminal.press('Enter');
  await terminal.sees('Done.');
  terminal.type('/status');
  await terminal.sees('→ /status');
  terminal.press('Enter');
  const page = await terminal.sees('from ANTHROPIC_API_KEY');
  expect(page).toMatch(/version +\d+\.\d+/);
  expect(page).toContain(`directory  ${sandbox.workspace}`);
  expect(page).toMatch(/model +anthropic\/claude/);
  expect(page).toMatch(/session +\w{8}/);
  expect(page).toContain(`files      ${file}`);
  expect(page).toContain('no servers');
  expect(page).not.toContain('very-secret');
});

inTerminal(
  '/theme shows each theme while it is selected, and Esc keeps the one in use',
  async () => {
    await using world = await openWorld({ script });
    const { sandbox, model } = world;
    const env = { ...model.env('anthropic'), MUSTER_TERMINAL_THEME: 'dark' };
    using terminal = new TmuxTerminal(sandbox, [], { env, size: [80, 24] });
    await terminal.sees('/help');
    terminal.type('/theme');
    await terminal.sees('→ /theme');
    terminal.press('Enter');
    await terminal.sees('▶ dark in use');
    await terminal.sees('A heading');
    const isPainted = async (text: string) => {
      await expect.poll(() => terminal.painted()).toContain(text);
    };
    await isPainted('\u001b[36m▶');
    terminal.press('Down');
    await isPainted('\u001b[34m▶');
    expect(terminal.screen()).toContain('▶ light');
    terminal.press('Up');
    await isPainted('\u001b[36m▶');
    terminal.press('Down', 'Enter');
    await terminal.sees('theme: light; /config terminal.theme light keeps it');
  },
);

inTerminal('/model chooses the effort of a conversation, from the next message on', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  const env = model.env('anthropic');
  using terminal = new TmuxTerminal(sandbox, [], { env, size: [100, 30] });
  const effortOfLast = () => model.requests.at(-1)?.body['output_config'];
  await terminal.sees('/help');
  terminal.type('First');
  terminal.press('Enter');
  await terminal.sees('Done.');
  expect(effortOfLast()).toBeUndefined();
  terminal.type('/model anthropic/claude-sonnet-5 high');
  terminal.press('Enter');
  await terminal.sees('anthropic/claude-sonnet-5, effort high, from the next message on');
  // The status line names what the next message gets.
  await terminal.sees('claude-sonnet-5 · high');
  terminal.type('Second');
  terminal.press('Enter');
  await expect.poll(effortOfLast).toEqual({ effort: 'high' });
  await terminal.sees(/> Second\s+Done\./);
  terminal.type('/model anthropic/claude-sonnet-5 default');
  terminal.press('Enter');
  await terminal.sees('claude-sonnet-5 from the next message on');
  await terminal.sees((screen) => !screen.includes('claude-sonnet-5 · high'));
  terminal.type('Third');
  terminal.press('Enter');
  await terminal.sees(/> Third\s+Done\./);
  expect(effortOfLast()).toBeUndefined();
});
