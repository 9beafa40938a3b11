import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../../src/testing/index.ts';
import { BIN } from '../../e2e/muster.ts';
import { openWorld, type World } from '../../e2e/world.ts';
import { installPackages } from './install.ts';

const OPENCODE = `opencode-${process.platform}-${process.arch}`;
const bin = join(
  await installPackages({ '@google/gemini-cli': '0.61.0', [OPENCODE]: '1.18.33' }),
  'node_modules',
);

/** The command with which a peer starts Muster as its server, and the environment of the server. */
interface ServerCommand {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How another agent is pointed at the fake model and at Muster, and asked something. */
interface Peer {
  readonly name: string;
  /** Writes the configuration. Returns the command line that asks, and its environment. */
  readonly set: (world: World, server: ServerCommand, prompt: string) => ServerCommand;
}

const gemini: Peer = {
  name: 'Gemini CLI',
  set: (world, { command: [command, ...args], env }, prompt) => {
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      mcpServers: { muster: { command, args, env, trust: true } },
    };
    mkdirSync(join(world.sandbox.home, '.gemini'));
    writeFileSync(join(world.sandbox.home, '.gemini/settings.json'), JSON.stringify(settings));
    const flags = ['--approval-mode', 'yolo', '--skip-trust', '-m', 'gemini-2.5-pro'];
    return {
      command: [process.execPath, join(bin, '.bin/gemini'), '-p', prompt, ...flags],
      env: world.model.env('google'),
    };
  },
};

const opencode: Peer = {
  name: 'opencode',
  set: (world, { command, env }, prompt) => {
    const { LLM_BASE_URL: baseURL = '', LLM_API_KEY: apiKey = '' } = world.model.env('chat');
    const npm = '@ai-sdk/openai-compatible';
    const models = { 'fake-model': { name: 'fake' } };
    world.sandbox.write(
      'opencode.json',
      JSON.stringify({
        model: 'fake/fake-model',
        provider: { fake: { npm, name: 'fake', options: { baseURL, apiKey }, models } },
        mcp: { muster: { type: 'local', command, environment: env, enabled: true } },
      }),
    );
    return { command: [join(bin, OPENCODE, 'bin/opencode'), 'run', prompt], env: {} };
  },
};

const FOUND = 'It is in the cellar.';

/**
 * A model that plays both parts. Muster's subagent finds something. The other agent makes the given calls of Muster's tools, one after
 * another, and then repeats what the last one has returned.
 */
function playBoth(calls: readonly [tool: string, input: (task: string) => object][]) {
  return (request: RecordedRequest): Answer => {
    const names = request.tools.map(({ name }) => name);
    const offered = (tool: string) => names.find((name) => name.endsWith(`muster_${tool}`));
    // A request for the title of the conversation has no tools.
    if (request.protocol === 'anthropic' || names.length === 0) return { text: FOUND };
    const next = calls[toolResultRounds(request)];
    const text = request.messages.at(-1)?.toolResults?.[0]?.text ?? '';
    if (next === undefined) return { text: `Muster said: ${text}` };
    const task = /Task (\w+) is running/.exec(text)?.[1] ?? '';
    return { toolCalls: [{ name: offered(next[0]) ?? next[0], input: { ...next[1](task) } }] };
  };
}

/** Runs a peer. Its traffic goes to the fake model and to Muster alone. */
async function run(world: World, { command: [program = '', ...args], env }: ServerCommand) {
  const child = spawn(program, args, {
    cwd: world.sandbox.workspace,
    env: { ...world.sandbox.environment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (text) => (out += text));
  child.stderr.on('data', (text) => (errors += text));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, out, errors };
}

describe.each([gemini, opencode])('$name', ({ set }) => {
  test.each([
    ['in the foreground', [['Task', () => ({ prompt: 'Find it.', agent: 'Explore' })]]],
    [
      'in the background, and reads the result with TaskOutput',
      [
        ['Task', () => ({ prompt: 'Find it.', agent: 'Explore', run_in_background: true })],
        ['TaskOutput', (task) => ({ task_id: task })],
      ],
    ],
  ] satisfies [string, Parameters<typeof playBoth>[0]][])(
    'delegates to Muster %s',
    async (_name, calls) => {
      await using world = await openWorld({ script: playBoth(calls), strict: false });
      const env = world.sandbox.environment(world.model.env('anthropic'));
      const server = { command: [process.execPath, BIN, 'mcp', 'serve'], env };
      const { code, out, errors } = await run(world, set(world, server, 'Have it found.'));
      expect({ code, out, errors }).toEqual({
        code: 0,
        out: expect.stringContaining('Muster said:'),
        errors: expect.any(String),
      });
      expect(out).toContain(FOUND);
    },
  );
});
