import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  assertAppendOnly,
  canonicalPrefix,
  toolResultRounds,
  WIRE_PROTOCOLS,
  type Answer,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { eventsOf } from './muster.ts';
import { clean, delegate, family, kill, tasks } from './tasks.ts';
import { openWorld, type World } from './world.ts';

const STREAMED = ['-p', 'go', '--output-format', 'stream-json'] as const;

function isFork(request: RecordedRequest, part = ''): boolean {
  return request.rawBody.includes(`# Task\\npart ${part}`);
}

/** Reads a file, then creates two forks. Each of them tries to write, which it may not, and ends. */
function forking(request: RecordedRequest): Answer {
  const rounds = toolResultRounds(request);
  if (isFork(request)) {
    return rounds === 2
      ? { toolCalls: [{ name: 'Write', input: { file_path: 'b.txt', content: 'x' } }] }
      : { text: 'the fork is done' };
  }
  switch (rounds) {
    case 0:
      return {
        thinking: 'I look first.',
        text: 'Looking.',
        toolCalls: [{ name: 'Read', input: { file_path: 'a.txt' } }],
      };
    case 1:
      return { thinking: 'Now both.', toolCalls: [fork('1'), fork('2')] };
    default:
      return { text: 'all is done' };
  }
}

function fork(part: string) {
  return delegate(`part ${part}`, { subagent_type: 'Explore', fork: true });
}

function requestsOf({ model }: World, part: string): readonly RecordedRequest[] {
  return model.requests.filter((request) => isFork(request, part));
}

/** Counts the messages at the beginning of two prompts that are the same. */
function countSharedMessages(some: RecordedRequest, other: RecordedRequest): number {
  const [these, those] = [canonicalPrefix(some), canonicalPrefix(other)];
  expect([these.tools, these.system]).toEqual([those.tools, those.system]);
  const at = these.messages.findIndex((piece, index) => piece !== those.messages[index]);
  return at === -1 ? these.messages.length : at;
}

describe.concurrent.each(WIRE_PROTOCOLS)('over %s', (protocol) => {
  it('the requests of two forks begin with the bytes of the request of their parent', async () => {
    await using world = await openWorld({
      protocol,
      files: { 'a.txt': 'one </system>\n' },
      script: forking,
    });
    const run = await world.run(STREAMED);
    expect([run.code, run.stderr]).toEqual([0, '']);
    const parent = world.model.requests.findLast(
      (request) => !isFork(request) && toolResultRounds(request) === 1,
    );
    const [one, oneLater] = requestsOf(world, '1');
    const [two] = requestsOf(world, '2');
    if (!parent || !one || !oneLater || !two) throw new Error('a request is missing');
    assertAppendOnly(parent, one);
    assertAppendOnly(parent, two);
    assertAppendOnly(one, oneLater);
    const { length } = canonicalPrefix(one).messages;
    expect(countSharedMessages(one, two)).toBeGreaterThanOrEqual(length - 2);
    expect(one.model).toBe(parent.model);
    const refused = eventsOf(run).filter((event) => event.type === 'call.refused');
    expect(refused).toMatchObject([
      { tool: 'Write', error: 'PERMISSION_DENIED', decision: { step: 'tool_set' } },
      { tool: 'Write', error: 'PERMISSION_DENIED', decision: { step: 'tool_set' } },
    ]);
  });
});

describe.concurrent('a forked context', () => {
  it('is sent again after kill -9 in exactly the request that was lost, and its rerun is identical', async () => {
    let hangs = true;
    await using world = await openWorld({
      files: { 'a.txt': 'one\n' },
      script: (request) =>
        hangs && isFork(request) && toolResultRounds(request) === 3
          ? { fault: { kind: 'hang' } }
          : forking(request),
    });
    const first = world.start(['-p', 'go']);
    await world.model.received(6);
    await kill(first);
    hangs = false;
    const lost = requestsOf(world, '1').at(-1);
    const before = world.model.requests.length;
    const again = await world.run(['--continue']);
    expect([again.code, again.stderr]).toEqual([0, '']);
    const repeated = world.model.requests.slice(before).find((request) => isFork(request, '1'));
    expect(repeated?.rawBody).toBe(lost?.rawBody);
    const { root } = await family(world);
    const rerun: unknown = JSON.parse(clean(await tasks(world, 'rerun', root, '--json')));
    expect(rerun).toMatchObject({ identical: true, lost: [] });
  });

  it('stays with the child when its log is exported and imported, and when it is branched', async () => {
    await using world = await openWorld({ files: { 'a.txt': 'one\n' }, script: forking });
    await world.run(STREAMED);
    const { root, children } = await family(world);
    const [one = ''] = children;
    const file = join(world.sandbox.root, 'fork.jsonl');
    clean(await tasks(world, 'export', one, file));
    clean(await tasks(world, 'delete', root));
    clean(await tasks(world, 'import', file));
    const [asked] = requestsOf(world, '1');
    const resumed = await world.run(['--resume', one, '-p', 'once more']);
    expect(resumed.code).toBe(0);
    const later = world.model.requests.at(-1);
    if (!asked || !later) throw new Error('a request is missing');
    assertAppendOnly(asked, later);
    const branched = await world.run([
      'tasks',
      'branch',
      one,
      '--at',
      '1',
      '--prompt',
      'other way',
    ]);
    expect(branched.code).toBe(0);
    const elsewhere = world.model.requests.at(-1);
    if (!elsewhere) throw new Error('a request is missing');
    assertAppendOnly(asked, elsewhere);
  });
});
