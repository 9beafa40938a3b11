import { expect, it } from 'vitest';
import {
  toolResultRounds,
  WIRE_PROTOCOLS,
  type Answer,
  type RecordedRequest,
  type WireProtocol,
} from '../../src/testing/index.ts';
import { clean, tasks } from './tasks.ts';
import { openWorld } from './world.ts';

const PARTS = 12;
/** Characters of a request that the server takes: some of the parts, but not all of them. */
const MOST = 60_000;

/** How servers behind each protocol word it; none of them says its status in another way than 400. */
const REFUSALS: Readonly<Record<WireProtocol, object>> = {
  anthropic: { message: 'Input is too long for requested model.' },
  responses: { error: { message: 'Too much.', code: 'context_length_exceeded' } },
  chat: { error: { message: 'Your request exceeded model token limit: 8192 (requested: 9000)' } },
  google: {
    error: {
      code: 400,
      message: 'The input token count (9000) exceeds the maximum number of tokens allowed (8192).',
      status: 'INVALID_ARGUMENT',
    },
  },
};

function sizeOf({ body }: RecordedRequest): number {
  return JSON.stringify(body).length;
}

function isSummary({ messages }: RecordedRequest): boolean {
  return messages.at(-1)?.text.includes('which you write now') === true;
}

it.each(WIRE_PROTOCOLS)(
  'a conversation that is too long for the server is compacted, and continues: %s',
  async (protocol) => {
    let read = 0;
    const refused: RecordedRequest[] = [];
    const script = (request: RecordedRequest): Answer => {
      if (sizeOf(request) > MOST) {
        refused.push(request);
        const body = JSON.stringify(REFUSALS[protocol]);
        return { fault: { kind: 'status', status: 400, body } };
      }
      if (isSummary(request)) return { text: 'Goal: read all parts. Done: some of them.' };
      if (read >= PARTS) return { text: 'All parts are read.' };
      read += 1;
      return {
        text: `Part ${read} is next, after ${toolResultRounds(request)} others.`,
        toolCalls: [{ name: 'Read', input: { file_path: `part${read}.txt` } }],
      };
    };
    const files = Object.fromEntries(
      Array.from({ length: PARTS }, (_, n) => [
        `part${n + 1}.txt`,
        `A line of part ${n + 1} that says something.\n`.repeat(120),
      ]),
    );
    await using world = await openWorld({ protocol, files, script });
    const run = await world.run(['-p', 'Read all parts.', '--verbose']);
    expect([run.code, run.stdout]).toEqual([0, 'All parts are read.\n']);
    expect(refused.length).toBeGreaterThan(0);
    const [newest] = JSON.parse(clean(await tasks(world, 'list', '--all', '--json')));
    const log = clean(await tasks(world, 'log', newest.id));
    expect(log).toMatch(/ turn\.failed .*"kind":"context_overflow"/);
    expect(log).toMatch(/ context\.(cleared|summarised|dropped) /);
    // None was sent twice as it was.
    expect(new Set(refused.map(({ body }) => JSON.stringify(body))).size).toBe(refused.length);
  },
);
