import { describe, expect, it } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordedRequest } from '../../src/testing/index.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { openWorld } from './world.ts';

const GO = ['-p', 'go', '--output-format', 'stream-json'];
const SILENT = { delayMs: 300_000, text: '' };

const isMain = ({ tools }: RecordedRequest): boolean => tools.some(({ name }) => name === 'Task');

describe.concurrent('--max-seconds', () => {
  it('stops commands and tasks, and leaves one turn for the answer', async () => {
    await using world = await openWorld({
      script: (request) => {
        if (!isMain(request)) return SILENT;
        if (request.toolChoice === 'none') return { text: 'This is what I have.' };
        return {
          text: 'so far',
          toolCalls: [
            { name: 'Bash', input: { command: 'echo begun; exec sleep 60' } },
            { name: 'Task', input: { prompt: 'slow', run_in_background: true } },
          ],
        };
      },
    });
    // 10 % of 20 s are enough for the last answer.
    const run = await world.run([...GO, '--allow', 'Bash', '--max-seconds', '20']);
    expect(run.code).toBe(3);
    const { data, error } = envelopeOf(run);
    expect(data).toMatchObject({ status: 'partial', result: 'This is what I have.' });
    expect(error).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringMatching(
        /^the limit tree_wall_seconds = 20 is reached \(20[.\d]* used\)$/,
      ),
    });
    expect(data.receipt.children.length).toBe(1);
    const last = world.model.requests.at(-1);
    expect(last?.toolChoice).toBe('none');
    const results = last?.messages.flatMap(({ toolResults }) => toolResults) ?? [];
    expect(results.map(({ text }) => text).join('\n')).toContain('begun');
    const told = (last?.messages ?? []).map(({ text }) => text).join('\n');
    expect(told).toContain('Stop here: the limit tree_wall_seconds = 20 is reached');
    expect(told).toContain('slow): partial');
  });

  it('counts the time before a kill -9', async () => {
    await using world = await openWorld({
      script: ({ toolChoice }) => (toolChoice === 'none' ? { text: 'late' } : SILENT),
    });
    const first = world.start([...GO, '--max-seconds', '20']);
    await world.model.received(1);
    await sleep(10_000);
    first.process.kill('SIGKILL');
    await first.finished;
    const second = await world.run(['--continue', ...GO.slice(2), '--max-seconds', '20']);
    expect(second.code).toBe(3);
    const { data, error } = envelopeOf(second);
    expect(data.result).toBe('late');
    expect(error?.message).toMatch(
      /^the limit tree_wall_seconds = 20 is reached \(20[.\d]* used\)$/,
    );
    const events = eventsOf(second);
    const claimed = events.findLast(({ type }) => type === 'task.claimed');
    const reached = events.find((event) => event.type === 'limit.reached');
    if (claimed === undefined || reached === undefined) throw new Error('no limit was reached');
    const usedBefore = reached.used - (reached.ts - claimed.ts) / 1_000;
    expect(usedBefore).toBeGreaterThan(1);
  });
});
