import { describe, expect, it } from 'vitest';
import { lastUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { envelopeOf } from './muster.ts';
import { openWorld } from './world.ts';

const READ_A = { name: 'Read', input: { file_path: 'a.txt' } };
const READ_B = { name: 'Read', input: { file_path: 'b.txt' } };

function isChild(request: RecordedRequest): boolean {
  return lastUserText(request).startsWith('part');
}

/** A request's body, byte for byte. */
function bytes(request: RecordedRequest | undefined): string {
  return JSON.stringify(request?.body);
}

describe('after kill -9 of everything, --continue', () => {
  it('lets a child continue from its third request, and its result reaches the parent', async () => {
    let hang = true;
    await using world = await openWorld({
      files: { 'a.txt': 'alpha', 'b.txt': 'beta' },
      script: (request) => {
        const rounds = toolResultRounds(request);
        if (isChild(request)) {
          if (rounds === 0) return { toolCalls: [READ_A] };
          if (rounds === 1) return { toolCalls: [READ_B] };
          return hang ? { fault: { kind: 'hang' } } : { text: 'CHILD FOUND alpha and beta' };
        }
        if (rounds > 0) return { text: 'The child is done.' };
        return {
          toolCalls: [{ name: 'Task', input: { prompt: 'part 1', subagent_type: 'Explore' } }],
        };
      },
    });
    const first = world.start(['-p', 'go']);
    await world.model.received(4);
    first.process.kill('SIGKILL');
    await first.finished;
    hang = false;

    const second = await world.run(['--continue', '--output-format', 'json']);
    expect([second.code, second.stderr]).toEqual([0, '']);
    const requests = world.model.requests;
    expect(requests.length).toBe(6);
    // The lost request once more, byte for byte: its first two results in place.
    expect(bytes(requests[4])).toBe(bytes(requests[3]));
    expect(requests[4]?.messages.flatMap(({ toolResults }) => toolResults).length).toBe(2);
    const told = requests[5]?.messages.flatMap(({ toolResults }) => toolResults) ?? [];
    expect(told.map(({ text }) => text)).toEqual([
      expect.stringContaining('CHILD FOUND alpha and beta'),
    ]);
    const envelope = envelopeOf(second);
    expect(envelope.data).toMatchObject({ status: 'completed', result: 'The child is done.' });
  });
});

describe('a conversation that has completed', () => {
  it('gives its answer again without a request when there is no new message', async () => {
    await using world = await openWorld({ script: () => ({ text: 'This is the answer.' }) });
    const first = await world.run(['-p', 'go']);
    const again = await world.run(['--continue']);
    expect([again.code, again.stdout, again.stderr]).toEqual([0, first.stdout, '']);
    expect(world.model.requests.length).toBe(1);
  });

  it('continues with the next message, after the full history', async () => {
    await using world = await openWorld({
      script: (request) => ({ text: `answer to ${lastUserText(request)}` }),
    });
    await world.run(['-p', 'one']);
    const next = await world.run(['--continue', '-p', 'two']);
    expect([next.code, next.stdout]).toEqual([0, 'answer to two\n']);
    const told = world.model.requests[1]?.messages.map(({ role, text }) => [role, text]);
    expect(told).toEqual([
      ['user', 'one'],
      ['assistant', 'answer to one'],
      ['user', 'two'],
    ]);
  });
});
