import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  describeViolations,
  WIRE_PROTOCOLS,
  type Answer,
  type RecordedRequest,
  type WireProtocol,
} from '../../src/testing/index.ts';
import { openWorld, type World } from './world.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';

const TURNS = 20;
/** The turn that is killed in the middle of its calls. */
const KILLED = 9;
const SUMMARY = 'Goal: go through all protocols. Done: several turns.';

/** Calls as models write them, with names and ids that other APIs refuse. */
const ODD_CALLS: readonly { readonly name: string; readonly id?: string }[] = [
  { name: 'Read' },
  { name: 'functions.Read', id: 'functions.Read:0' },
  { name: 'read file', id: 'call 1' },
  { name: '📖' },
  { name: ' ', id: `chatcmpl-tool-${'0'.repeat(60)}` },
  { name: 'constructor' },
];

function turnOf(request: RecordedRequest): number {
  const turns = request.messages.flatMap(({ text }) => /\bTURN (\d+)\b/.exec(text)?.[1] ?? []);
  return Number(turns.at(-1));
}

function isSummary({ messages }: RecordedRequest): boolean {
  return messages.at(-1)?.text.includes('which you write now') === true;
}

/** Each turn calls two tools, some of them odd, with a thought and a blank text before them, and then answers. */
function answer(request: RecordedRequest): Answer {
  if (isSummary(request)) return { text: SUMMARY };
  const turn = turnOf(request);
  const isAnswered = (request.messages.at(-1)?.toolResults.length ?? 0) > 0;
  if (isAnswered)
    return {
      thinking: 'Now I know.',
      text: `Turn ${turn} is done. ${'All is well. '.repeat(400)}`,
    };
  if (turn === KILLED && request.attempt === 1) {
    return {
      text: 'Waiting.',
      toolCalls: [{ name: 'Bash', input: { command: 'echo begun > begun.txt; sleep 60' } }],
    };
  }
  const odd = ODD_CALLS[turn % ODD_CALLS.length] ?? { name: 'Read' };
  return {
    ...(turn % 3 === 0 ? {} : { thinking: 'Let me see.' }),
    text: turn % 2 === 0 ? '\n\n' : 'I look.',
    toolCalls: [
      {
        ...odd,
        ...(odd.id === undefined ? {} : { id: `${odd.id}-${turn}` }),
        input: { file_path: 'notes.txt' },
      },
      { name: 'Read', input: { file_path: 'notes.txt', offset: turn } },
    ],
  };
}

function configure({ sandbox, model }: World): void {
  const { url } = model;
  const providers = [
    `[models.providers.anthropic]\nkind = "anthropic"\nbase_url = "${url}"\napi_key_env = "KEY"`,
    `[models.providers.responses]\nkind = "openai-responses"\nbase_url = "${url}/v1"\napi_key_env = "KEY"`,
    `[models.providers.chat]\nkind = "openai-compatible"\nbase_url = "${url}/v1"\napi_key_env = "KEY"`,
    `[models.providers.google]\nkind = "google"\nbase_url = "${url}/v1beta"\napi_key_env = "KEY"`,
  ];
  const windows = WIRE_PROTOCOLS.map(
    (protocol) =>
      `[models.catalogue."${modelOf(protocol)}"]\ncontext_window = 20000\noutput_limit = 2000`,
  );
  const directory = join(sandbox.home, '.config/muster');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'config.toml'), [...providers, ...windows].join('\n'));
}

function modelOf(protocol: WireProtocol): string {
  const names = {
    anthropic: 'claude-sonnet-5',
    responses: 'gpt-5',
    chat: 'qwen3',
    google: 'gemini-3-pro',
  };
  return `${protocol}/${names[protocol]}`;
}

async function runTurn(world: World, turn: number): Promise<void> {
  const protocol = WIRE_PROTOCOLS[turn % WIRE_PROTOCOLS.length] ?? 'anthropic';
  const resumed = turn === 0 ? [] : ['--continue'];
  const args = [...resumed, '-p', `TURN ${turn}`, '--model', modelOf(protocol), '--allow', 'Bash'];
  const options = { env: { KEY: 'key' } };
  if (turn === KILLED) {
    const running = world.start(args, options);
    const file = join(world.sandbox.workspace, 'begun.txt');
    await waitUntilPasses(() => {
      expect(existsSync(file)).toBe(true);
    });
    running.process.kill('SIGKILL');
    await running.finished;
    return;
  }
  const run = await world.run(args, options);
  expect([turn, run.code, run.stderr]).toEqual([turn, 0, expect.any(String)]);
}

it('twenty turns switch between all four protocols, with a kill and compactions in between', async () => {
  await using world = await openWorld({
    files: { 'notes.txt': 'A note on everything.\n'.repeat(30) },
    script: answer,
  });
  configure(world);
  for (let turn = 0; turn < TURNS; turn += 1) await runTurn(world, turn);
  expect(describeViolations(world.model.violations)).toBe('');
  const seen = new Set(world.model.requests.map(({ protocol }) => protocol));
  expect([...seen].toSorted()).toEqual([...WIRE_PROTOCOLS].toSorted());
  expect(world.model.requests.some(isSummary)).toBe(true);
});
