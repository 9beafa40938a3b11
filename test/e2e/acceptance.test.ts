import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/base/json.ts';
import {
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { envelopeOf } from './muster.ts';
import { bash, openWorld } from './world.ts';

const TEST = `import assert from 'node:assert';
import { add } from '../src/add.mjs';
assert.equal(add(2, 3), 5);
console.log('ok');
`;
const FILES = {
  'package.json': '{"name":"sum","type":"module","scripts":{"test":"node test/add.test.mjs"}}\n',
  'src/add.mjs': 'export const add = (a, b) => a - b;\n',
  'test/add.test.mjs': TEST,
};
const FLAGS = ['--permission-mode', 'acceptEdits', '--allow', 'Bash', '--output-format', 'json'];

function write(path: string, content: string): AnswerToolCall {
  return bash(`cat > ${path} <<'END'\n${content}END`);
}

const FIX = write('src/add.mjs', 'export const add = (a, b) => a + b;\n');

/** Runs the main agent with these rounds of calls, each followed by the answer `done`. */
async function runRounds(rounds: readonly (AnswerToolCall | null)[], accept: string) {
  await using world = await openWorld({
    files: FILES,
    script: (request: RecordedRequest): Answer => {
      const finals = request.messages.filter(
        ({ role, text }) => role === 'assistant' && text === 'done',
      );
      const call = rounds[finals.length];
      const isCalled =
        toolResultRounds(request) >
        rounds.slice(0, finals.length).filter((each) => each !== null).length;
      return isCalled || call === undefined || call === null
        ? { text: 'done' }
        : { toolCalls: [call] };
    },
  });
  const run = await world.run(['-p', 'Make the test pass', '--accept', accept, ...FLAGS]);
  const last = world.model.requests.at(-1);
  return {
    run,
    envelope: envelopeOf(run),
    requests: world.model.requests.length,
    told: last?.messages.map(({ text }) => text).join('\n') ?? '',
  };
}

describe.concurrent('work that must pass a command', () => {
  it('is completed when the command passes on a clean copy', async () => {
    const { run, requests } = await runRounds([FIX], 'npm test');
    expect(run).toMatchObject({ code: 0 });
    expect(requests).toBe(2);
  });

  it('is not accepted when the test was changed, and the model is told why', async () => {
    const cheat = write('test/add.test.mjs', "console.log('ok');\n");
    const { run, told, requests } = await runRounds([cheat, FIX], 'npm test');
    expect(told).toContain('Your work is not accepted.');
    expect(told).toContain('npm test: exit code 1');
    expect(told).toContain('as they were before the task: test/add.test.mjs');
    expect(run.code).toBe(0);
    expect(requests).toBe(4);
  });

  it('fails after three checks, with the output', async () => {
    const { envelope, requests } = await runRounds([null, null, null], 'npm test');
    expect(requests).toBe(3);
    expect(envelope.data.status).toBe('failed');
    expect(envelope.error?.message).toContain(
      'accept: the work was not accepted: npm test: exit code 1',
    );
  });
});

const isMain = ({ systemParts }: RecordedRequest): boolean =>
  systemParts.join('\n').includes("in the user's terminal");

/** Runs a main agent that delegates once, and a child that answers as `child` says. */
async function delegate(
  input: Readonly<Record<string, JsonValue>>,
  child: (request: RecordedRequest) => Answer,
  options: {
    readonly flags?: readonly string[];
    readonly files?: Readonly<Record<string, string>>;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
) {
  await using world = await openWorld({
    files: { ...FILES, ...options.files },
    script: (request) => {
      if (!isMain(request)) return child(request);
      const call = { name: 'Task', input: { prompt: 'Make the test pass', ...input } };
      return toolResultRounds(request) === 0 ? { toolCalls: [call] } : { text: 'end' };
    },
  });
  const env = {
    MUSTER_MODELS_FAST: 'anthropic/small-1',
    MUSTER_MODELS_POWERFUL: 'anthropic/large-1',
  };
  const flags = options.flags ?? FLAGS;
  const run = await world.run(['-p', 'go', ...flags], { env: { ...env, ...options.env } });
  const { requests } = world.model;
  const told = requests.findLast(isMain)?.messages.flatMap(({ toolResults }) => toolResults ?? []);
  return {
    run,
    told: told?.map(({ text }) => text).join('\n') ?? '',
    children: requests.filter((request) => !isMain(request)),
  };
}

describe.concurrent('a delegation whose work must be accepted', () => {
  it('returns the work of a child when the command passes, with the check in its receipt', async () => {
    const { told } = await delegate({ accept: 'npm test' }, (request) =>
      toolResultRounds(request) === 0 ? { toolCalls: [FIX] } : { text: 'It adds now.' },
    );
    expect(told).toContain('It adds now.');
    expect(told).toContain('accepted ("npm test" exit 0)');
  });

  it('lets the next model continue the same conversation when the work of the first is refused', async () => {
    const { told, children, run } = await delegate(
      { accept: 'npm test', models: ['fast', 'powerful'] },
      (request) => {
        if (request.model === 'small-1') return { text: 'I am done.' };
        return toolResultRounds(request) === 0 ? { toolCalls: [FIX] } : { text: 'It adds now.' };
      },
    );
    expect(children.map(({ model }) => model)).toEqual([
      'small-1',
      'small-1',
      'large-1',
      'large-1',
    ]);
    expect(children.at(-1)?.messages.filter(({ text }) => text === 'I am done.')).toHaveLength(2);
    expect(told).toContain('It adds now.');
    expect(told).toContain('accepted ("npm test" exit 0)');
    expect(run.code).toBe(0);
  });

  it('is refused when a rule denies the command', async () => {
    const { told, children } = await delegate({ accept: 'npm test' }, () => ({ text: 'done' }), {
      flags: [...FLAGS, '--deny', 'Bash(npm:*)'],
    });
    expect(children).toEqual([]);
    expect(told).toContain('Bash(npm:*)');
  });

  it('is refused for several models without criteria, before any request', async () => {
    const { told, children } = await delegate({ models: ['fast', 'powerful'] }, () => ({
      text: 'x',
    }));
    expect(children).toEqual([]);
    expect(told).toContain('models: several models need `accept`');
  });

  it('uses the criteria of the definition', async () => {
    const agent =
      '---\nname: fixer\ndescription: Fixes.\naccept:\n  commands: npm test\n  unchanged: [src/other.mjs]\n---\nYou fix.\n';
    const { told, children } = await delegate(
      { subagent_type: 'fixer' },
      () => ({ text: 'It is fixed.' }),
      { files: { '.muster/agents/fixer.md': agent }, flags: [...FLAGS, '--trust-project'] },
    );
    expect(children).toHaveLength(3);
    expect(told).toContain(
      'PROVIDER_ERROR: accept: the work was not accepted: npm test: exit code 1',
    );
  });

  it.each([
    ['hangs', 'sleep 100', 'did not end by itself'],
    ['floods', 'yes', 'did not end by itself'],
    ['forks', 'for i in $(seq 50); do sleep 100 & done; wait', 'did not end by itself'],
  ])('ends a command that %s', async (_, command, expected) => {
    const { told } = await delegate({ accept: command }, () => ({ text: 'done' }), {
      env: { MUSTER_LIVENESS_TOOL_SECONDS: '2', MUSTER_OUTPUT_SPILL_BYTES: '1000000' },
    });
    expect(told).toContain(expected);
  });

  it('is judged with the commands of its definition, and the task decides again before they run', async () => {
    const agent = '---\nname: fixer\ndescription: Fixes.\naccept: npm test\n---\nYou fix.\n';
    const files = { '.muster/agents/fixer.md': agent };
    const denied = await delegate({ subagent_type: 'fixer' }, () => ({ text: 'done' }), {
      files,
      flags: [...FLAGS, '--trust-project', '--deny', 'Bash(npm:*)'],
    });
    expect(denied.children).toEqual([]);
    expect(denied.told).toContain('Bash(npm:*)');
  });

  it('does not reveal files that rules deny', async () => {
    const test =
      "import { readFileSync } from 'node:fs';\nconsole.log(readFileSync('secret.txt', 'utf8'));\n";
    const { told } = await delegate({ accept: 'npm test' }, () => ({ text: 'done' }), {
      files: { 'secret.txt': 'TOPSECRET\n', 'test/add.test.mjs': test },
      flags: [...FLAGS, '--deny', 'Read(./secret.txt)'],
    });
    expect(told).toContain('ENOENT');
    expect(told).not.toContain('TOPSECRET');
  });
});

it.each([
  ['{"commands": ["npm test"}', '--accept: begins like a JSON object, and is not valid JSON'],
  ['{"comands": "npm test"}', '--accept.comands: is not a part of accept'],
  ['{"may_change": "x"}', '--accept: is empty'],
])('--accept %s is an error that says why', async (criteria, message) => {
  await using world = await openWorld({ files: FILES });
  const run = await world.run(['-p', 'go', '--accept', criteria]);
  expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  expect(world.model.requests).toEqual([]);
});
