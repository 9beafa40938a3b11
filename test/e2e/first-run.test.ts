import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { startKeyServer } from './key-server.ts';
import { Sandbox } from './muster.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const TITLE = 'Muster found no model';
const KEY = 'sk-typed-key-0123456789';

function open(
  sandbox: Sandbox,
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): TmuxTerminal {
  return new TmuxTerminal(sandbox, args, { env, size: [110, 40] });
}

describe.runIf(needs('tmux', 'tmux'))('a first start without a model', () => {
  it('goes on without a model if the user wants that, and then sends the prompt', async () => {
    using sandbox = new Sandbox({ 'retry.ts': 'export const retryLimit = 3;\n' });
    const env = { LLM_API_KEY: 'key-without-a-model' };
    using terminal = open(sandbox, env, ['Where is retryLimit?']);
    const offer = await terminal.sees(TITLE);
    expect(offer).toContain('The environment has no key');
    expect(offer).not.toContain('Where is retryLimit?');
    terminal.press('Down', 'Down', 'Enter');
    const screen = await terminal.sees('> Where is retryLimit?');
    expect(screen).toContain('no model is configured: the offline search engine answers');
    expect(screen).toContain('LLM_API_KEY has no effect');
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
  });

  it('leads to the form for a key, which never shows it', async () => {
    using sandbox = new Sandbox();
    using terminal = open(sandbox);
    await terminal.sees(TITLE);
    terminal.press('Enter');
    await terminal.sees('Sign in to a provider');
    terminal.type('anthr');
    await terminal.sees('narrowed by “anthr”');
    terminal.press('Enter');
    const asked = await terminal.sees('API key of Anthropic');
    expect(asked).toContain('The key will be sent to https://api.anthropic.com');
    terminal.paste(`${KEY}x`);
    expect(await terminal.sees(`${KEY.length + 1} characters typed`)).not.toContain('sk-');
    terminal.press('BSpace');
    await terminal.sees(`${KEY.length} characters typed (not shown)`);
    terminal.press('C-u');
    await terminal.sees('type or paste it (not shown)');
  });

  it('takes a key that is tested and saved, and that the next message uses', async () => {
    await using world = await openWorld({ script: () => ({ text: 'The key works.' }) });
    const { sandbox, model } = world;
    const { ANTHROPIC_API_KEY: _, ...urls } = model.env('anthropic');
    using terminal = open(sandbox, { ...urls, MUSTER_MODELS_DEFAULT: 'offline' });
    await terminal.sees('/help');
    terminal.type('/login anthropic');
    terminal.press('Enter');
    await terminal.sees('API key of Anthropic');
    terminal.type(KEY);
    terminal.press('Enter');
    const end = await terminal.sees('signed in to Anthropic; the key is in');
    expect(end).not.toContain('sk-');
    expect(readFileSync(join(sandbox.data, 'credentials.json'), 'utf8')).toContain(`"${KEY}"`);
    terminal.type('/model anthropic/claude-sonnet-5');
    terminal.press('Enter');
    await terminal.sees('anthropic/claude-sonnet-5 from the next message on');
    terminal.type('does it work?');
    terminal.press('Enter');
    await terminal.sees('The key works.');
    // The key is not in the history either.
    terminal.press('Up', 'Up', 'Up');
    terminal.type(' and more');
    expect(await terminal.sees('and more')).not.toContain('sk-');
    terminal.press('C-c', 'C-c', 'C-c');
    await terminal.sees('exit 0');
  });

  it('refuses a key that the provider refuses, and keeps nothing of it', async () => {
    await using server = await startKeyServer({ keys: new Set([KEY]) });
    using sandbox = new Sandbox();
    const env = { OPENROUTER_BASE_URL: server.url, MUSTER_MODELS_DEFAULT: 'offline' };
    using terminal = open(sandbox, env);
    await terminal.sees('/help');
    terminal.type('/login openrouter');
    terminal.press('Enter');
    const asked = await terminal.sees('API key of OpenRouter');
    expect(asked).toContain('Create a key on https://openrouter.ai/keys');
    terminal.type('sk-wrong');
    await terminal.sees('8 characters typed (not shown)');
    terminal.press('Enter');
    expect(await terminal.sees('OpenRouter refuses the key')).not.toContain('sk-wrong');
    terminal.press('Escape');
    await terminal.sees('shift+tab mode');
    expect(existsSync(join(sandbox.data, 'credentials.json'))).toBe(false);
  });

  it('can be left with Esc at each step, and /login opens the form again', async () => {
    using sandbox = new Sandbox();
    using terminal = open(sandbox);
    await terminal.sees(TITLE);
    terminal.press('Enter');
    await terminal.sees('Sign in to a provider');
    terminal.press('Escape');
    const screen = await terminal.sees('/help');
    expect(screen).toContain('/login');
    terminal.type('/login openrouter');
    terminal.press('Enter');
    await terminal.sees('API key of OpenRouter');
    terminal.press('Escape');
    await terminal.sees('shift+tab mode');
    terminal.type('/login nobody');
    terminal.press('Enter');
    await terminal.sees('nobody');
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
  });

  it('asks again after a search that found nothing', async () => {
    using sandbox = new Sandbox();
    using terminal = open(sandbox);
    await terminal.sees(TITLE);
    terminal.press('2');
    await terminal.sees('Muster found no model again');
    terminal.press('3');
    await terminal.sees('looked for a model again');
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
  });

  it('is not asked about if the configuration names the offline search', async () => {
    using sandbox = new Sandbox();
    using terminal = open(sandbox, { MUSTER_MODELS_DEFAULT: 'offline' });
    const screen = await terminal.sees('offline');
    expect(screen).not.toContain(TITLE);
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
  });

  it('asks before the first line in plain lines', async () => {
    using sandbox = new Sandbox();
    using terminal = open(sandbox, {}, ['--screen-reader']);
    await terminal.sees('Choose 1, 2 or 3');
    terminal.type('3');
    terminal.press('Enter');
    await terminal.sees('no model is configured: the offline search engine answers');
    terminal.type('/login');
    terminal.press('Enter');
    await terminal.sees('type muster login in another terminal, then /restart here');
  });
});

describe.runIf(needs('tmux', 'tmux'))('a project with files that are not trusted', () => {
  const files = {
    '.git/HEAD': '',
    '.claude/agents/helper.md': '---\nname: helper\ndescription: helps\n---\nHelp.\n',
  };
  const env = { MUSTER_MODELS_DEFAULT: 'offline' };

  it('shows what they would do, and uses them once they are trusted', async () => {
    using sandbox = new Sandbox(files);
    using terminal = open(sandbox, env);
    const review = await terminal.sees('This project has files that change what Muster does');
    expect(review).toContain('.claude/agents/helper.md (agent, new, sha256');
    expect(review).toContain('› Not now');
    terminal.press('Down', 'Enter');
    const screen = await terminal.sees('trusted 1 file of this project');
    expect(screen).toContain('1 of yours: helper');
    expect(screen).not.toContain('not trusted');
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
  });

  it('goes on without them, and asks again when the user wants to', async () => {
    using sandbox = new Sandbox(files);
    using terminal = open(sandbox, env);
    await terminal.sees('› Not now');
    terminal.press('Enter');
    await terminal.sees('1 file of this project was not used');
    terminal.type('/trust');
    terminal.press('Enter');
    await terminal.sees('› Not now');
    terminal.press('2');
    await terminal.sees('1 of yours: helper');
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
  });
});
