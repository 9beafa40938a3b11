import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { TmuxTerminal } from '../e2e/tmux.ts';
import { openWorld } from '../e2e/world.ts';
import { inTerminal, isChild, leave, openTerminal, roundsOf, run, typedText } from './story.ts';

/** `/init` delegates to Explore and writes what it found. */
function script(request: RecordedRequest): Answer {
  if (isChild(request)) return { text: 'Tests: npm test.' };
  if (!typedText(request).includes('Write AGENTS.md')) return { text: 'The key works.' };
  const input = { prompt: 'explore', description: 'read the project', subagent_type: 'Explore' };
  const write = { file_path: 'AGENTS.md', content: '# Project\n\nnpm test\n' };
  const rounds: readonly Answer[] = [
    { toolCalls: [{ name: 'Task', input }] },
    { toolCalls: [{ name: 'Write', input: write }] },
  ];
  return rounds[roundsOf(request)] ?? { text: 'AGENTS.md is written.' };
}

inTerminal(
  'a form accepts a key, tests it and saves it, and the next message uses it',
  async () => {
    await using world = await openWorld({ script });
    const { sandbox, model } = world;
    const { ANTHROPIC_API_KEY: key = '', ...urls } = model.env('anthropic');
    const env = { ...urls, MUSTER_MODELS_DEFAULT: 'offline' };
    using terminal = new TmuxTerminal(sandbox, [], { env, size: [80, 24] });
    await terminal.sees('/help');
    terminal.type('/login anthropic');
    terminal.press('Enter');
    await terminal.sees('API key of Anthropic');
    terminal.paste(key);
    expect(await terminal.sees(`${key.length} characters typed (not shown)`)).not.toContain(key);
    terminal.press('Enter');
    await terminal.sees('signed in to Anthropic; the key is in');
    expect(readFileSync(join(sandbox.data, 'credentials.json'), 'utf8')).toContain(key);
    terminal.type('/model anthropic/claude-sonnet-5');
    terminal.press('Enter');
    await terminal.sees('from the next message on');
    terminal.type('does it work?');
    terminal.press('Enter');
    await terminal.sees('The key works.');
  },
);

inTerminal('the review of an untrusted project is shown, and yes trusts it', async () => {
  await using world = await openWorld({ script });
  const { sandbox, model } = world;
  mkdirSync(join(sandbox.workspace, '.muster'));
  const config = join(sandbox.workspace, '.muster/config.toml');
  writeFileSync(config, '[permissions]\nallow = ["Bash(make)"]\n');
  using terminal = new TmuxTerminal(sandbox, [], { env: model.env('anthropic'), size: [80, 24] });
  const review = await terminal.sees('This project has files that change what Muster does');
  expect(review).toContain('Bash(make)');
  terminal.press('Down');
  await terminal.sees(/› Trust/);
  terminal.press('Enter');
  await terminal.sees('/help');
  await leave(terminal);
  const { stdout } = await world.run(['trust', 'list']);
  expect(stdout).toContain('.muster/config.toml');
});

inTerminal('/init writes AGENTS.md with an Explore child', async () => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world, { args: ['--permission-mode', 'acceptEdits'] });
  await run(terminal, '/init');
  await terminal.sees('AGENTS.md is written.');
  expect(terminal.screen()).toMatch(/✓ Task Explore: read the project/);
  expect(existsSync(join(world.sandbox.workspace, 'AGENTS.md'))).toBe(true);
});

inTerminal('familiar names work, or say which command is meant', async () => {
  await using world = await openWorld({ script });
  using terminal = await openTerminal(world);
  const shows = async (typed: string, text: RegExp | string, close = false): Promise<void> => {
    terminal.type(typed);
    await terminal.sees(typed);
    terminal.press('Enter');
    await terminal.sees(text);
    if (!close) return;
    terminal.press('Escape');
    await terminal.sees(/\[default\]/);
  };
  await shows('?', 'Commands and keys', true);
  await shows('/help', 'Commands and keys', true);
  await shows('/cost', 'Usage of this conversation');
  await shows('/mcp', 'MCP servers', true);
  await shows('/hooks', 'runs no hooks');
  await shows('/login', 'Sign in to a provider', true);
  await shows('/theme', '▶ auto', true);
  await shows('/export', 'there is no conversation yet');
  await shows('/cst', 'did you mean /cost?');
  await shows('Hello', 'The key works.');
  await shows('/clear', 'continues the conversation above');
  terminal.type('exit');
  terminal.press('Enter');
  await terminal.sees('exit 0');
});
