import { describe, expect, it } from 'vitest';
import { toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { expectNothingLeft } from './ending.ts';
import { envelopeOf, runMuster, Sandbox } from './muster.ts';
import { bash, callsInTurn, lastResults, openWorld, type World } from './world.ts';

const HAS_BUBBLEWRAP = process.platform === 'linux' && needs('bwrap', 'bubblewrap');

/** More processes than the limit, none of which lasts. */
const MANY = 'echo go; for i in $(seq 60); do sleep 5 & done; wait; echo never';
const ENV = { MUSTER_SANDBOX_COMMAND_PROCESSES: '30' };
const LIMIT =
  'it had more than 30 processes and threads at a time, the limit sandbox.command_processes';
const FLAGS = ['--permission-mode', 'autonomous', '--output-format', 'json'];

const textOf = ({ messages }: RecordedRequest): string =>
  messages.map(({ text }) => text).join('\n');
const userTexts = ({ model }: World): string => model.requests.slice(-1).map(textOf).join('');

describe.runIf(process.platform === 'linux').concurrent('sandbox.command_processes', () => {
  it.each(HAS_BUBBLEWRAP ? [false, true] : [true])('holds; without a sandbox: %j', async (bare) => {
    await using world = await openWorld({ bare, script: callsInTurn([bash(MANY)]) });
    const run = await world.run(['-p', 'go', ...FLAGS], { env: ENV });
    expect(run.code).toBe(0);
    expect(lastResults(world.model)).toMatchObject([
      { text: expect.stringContaining(`go\n[killed: ${LIMIT}]`), isError: true },
    ]);
    expect(envelopeOf(run).data.receipt.commands).toMatchObject([
      { command: MANY, exitCode: null },
    ]);
    expectNothingLeft(world);
  });

  it('holds for a command in the background, whose task is notified', async () => {
    const notice =
      'killed: it had more processes and threads at a time than the limit sandbox.command_processes';
    await using world = await openWorld({
      bare: true,
      script: (request) => {
        const rounds = toolResultRounds(request);
        const input = { command: MANY, run_in_background: true };
        if (rounds === 0) return { toolCalls: [{ name: 'Bash', input }] };
        if (textOf(request).includes(notice) || rounds > 100) return { text: 'done' };
        return { toolCalls: [bash('sleep 0.2')] };
      },
    });
    const run = await world.run(['-p', 'go', ...FLAGS], { env: ENV });
    expect(run.code).toBe(0);
    expect(userTexts(world)).toContain(notice);
    expect(envelopeOf(run).data.receipt.shells).toMatchObject([
      { command: MANY, end: 'process_limit', exitCode: null },
    ]);
  });

  it('holds for a check of the work, which then is not accepted', async () => {
    await using world = await openWorld({ bare: true, script: () => ({ text: 'done' }) });
    const run = await world.run(['-p', 'go', '--accept', MANY, ...FLAGS], { env: ENV });
    expect(userTexts(world)).toContain(LIMIT);
    expect(envelopeOf(run).data.status).toBe('failed');
  });

  it.runIf(HAS_BUBBLEWRAP)('holds for muster sandbox', async () => {
    using sandbox = new Sandbox();
    const args = ['sandbox', '--', 'bash', '-c', MANY];
    expect(await runMuster(sandbox, args, { env: ENV })).toEqual({
      code: 137,
      signal: null,
      stdout: 'go\n',
      stderr: `muster: the command was killed: ${LIMIT}\n`,
    });
  });
});
