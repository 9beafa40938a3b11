import { describe, expect, it } from 'vitest';
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
