import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isJsonObject } from '../../src/base/json.ts';
import {
  firstUserText,
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { envelopeOf } from './muster.ts';
import { clean, listed, tasks } from './tasks.ts';
import { openWorld, type World } from './world.ts';

const QUESTION = 'Where is the port of the server set?';
const CALLS = [
  { name: 'Grep', input: { pattern: 'port', output_mode: 'content' } },
  { name: 'Read', input: { file_path: 'src/server.ts' } },
];

/** The main agent asks Explore, which searches, reads and answers. */
function answer(request: RecordedRequest): Answer {
  const round = toolResultRounds(request);
  if (isExplore(request)) {
    const next = CALLS[round];
    return next === undefined ? { text: 'In `src/server.ts:1`: 8080.' } : { toolCalls: [next] };
  }
  if (round > 0) return { text: 'It is 8080, set in src/server.ts:1.' };
  const input = { prompt: QUESTION, subagent_type: 'Explore', description: 'Find the port' };
  return { toolCalls: [{ name: 'Task', input }] };
}

function isExplore(request: RecordedRequest): boolean {
  return firstUserText(request) === QUESTION;
}

const REUSE = { env: { MUSTER_TASK_TOOL_CACHE: 'true' } };

async function ask(world: World): Promise<{ readonly explored: number; readonly stdout: string }> {
  const before = world.model.requests.filter(isExplore).length;
  const { stdout, code, stderr } = await world.run(
    ['-p', 'Which port?', '--output-format', 'json'],
    REUSE,
  );
  expect([code, stderr]).toEqual([0, '']);
  return { explored: world.model.requests.filter(isExplore).length - before, stdout };
}

it('the same Explore call in another run asks no model until something that it read changes', async () => {
  await using world = await openWorld({
    files: { 'src/server.ts': 'export const port = 8080;\n', 'notes.md': 'hello\n' },
    script: answer,
  });
  expect((await ask(world)).explored).toBe(3);
  const second = await ask(world);
  expect(second.explored).toBe(0);
  expect(envelopeOf(second).data.result).toBe('It is 8080, set in src/server.ts:1.');

  const children = (await listed(world)).filter(({ parent }) => parent !== null);
  const [reused, original] = children;
  expect(children).toHaveLength(2);
  expect(reused).toMatchObject({ status: 'completed', turns: 0, reused: original?.id });
  const shown = clean(await tasks(world, 'show', reused?.id ?? ''));
  expect(shown).toContain(`the result of task ${original?.id} of `);
  expect(clean(await tasks(world, 'list'))).toContain(`[reused from ${original?.id}]`);
  const envelope: unknown = JSON.parse(
    clean(await tasks(world, 'show', reused?.id ?? '', '--json')),
  );
  expect(JSON.stringify(envelope)).toContain(`"reused":{"task_id":"${original?.id}"`);
  expect(clean(await tasks(world, 'rerun', reused?.root ?? ''))).toContain('identical');

  writeFileSync(join(world.sandbox.workspace, 'notes.md'), 'hello again\n');
  expect((await ask(world)).explored).toBe(0);
  writeFileSync(join(world.sandbox.workspace, 'notes.md'), 'another port\n');
  expect((await ask(world)).explored).toBe(3);
});

it('the state of the repository does not keep a result from being reused', async () => {
  await using world = await openWorld({
    files: { 'src/server.ts': 'export const port = 8080;\n', 'notes.md': 'hello\n' },
    script: (request) => {
      const { toolCalls = [], ...rest } = answer(request);
      return { ...rest, toolCalls: toolCalls.map(asGeneral) };
    },
  });
  const { workspace } = world.sandbox;
  execFileSync('git', ['init', '-q'], { cwd: workspace });
  expect((await ask(world)).explored).toBe(3);
  writeFileSync(join(workspace, 'notes.md'), 'other\n');
  execFileSync('git', ['add', 'notes.md'], { cwd: workspace });
  expect((await ask(world)).explored).toBe(0);
});

function asGeneral(call: AnswerToolCall): AnswerToolCall {
  if (call.name !== 'Task' || !isJsonObject(call.input)) return call;
  return { ...call, input: { ...call.input, subagent_type: 'general-purpose' } };
}
