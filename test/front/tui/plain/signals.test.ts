import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Stage } from '../stage.ts';

const FAILURE = { kind: 'overloaded', message: 'overloaded', retryable: true } as never;
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

/** Waits until the lines hold a text, and returns them. */
async function heard(chunks: readonly string[], text: string): Promise<string> {
  while (!chunks.join('').includes(text)) await sleep(10);
  return chunks.join('');
}

it('long work, each further try and the answers of commands are lines', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const chunks: string[] = [];
  output.on('data', (chunk: Buffer) => void chunks.push(chunk.toString()));
  await using stage = new Stage({ streams: { input, output, canMove: false } });
  await heard(chunks, 'sandbox');
  input.write('Do it\r');
  while (stage.plain.session.state.tree.root === null) await sleep(10);
  stage.ask('mainmain');
  for (const attempt of [1, 2]) {
    const event = {
      type: 'turn.retried',
      turn: 1,
      attempt,
      failure: FAILURE,
      waitMs: 8_000,
    } as const;
    stage.write('mainmain', { ...event, usage });
  }
  stage.pass(61_000);
  stage.answer('mainmain', 'It is done.');
  const lines = await heard(chunks, 'It worked for');
  expect(lines.split(/\r?\n/).filter((line) => /overloaded|worked/.test(line))).toEqual([
    'Warning: overloaded: try 2',
    'Warning: overloaded: try 3',
    'It worked for 1 min 1 s · 1.2k tok · $0.0100.',
  ]);
  input.write('/theme dark\r');
  await heard(chunks, 'plain lines have no colors');
});
