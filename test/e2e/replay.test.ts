import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { lastUserText, toolResultRounds } from '../../src/testing/index.ts';
import { envelopeOf, type Finished } from './muster.ts';
import { clean, complaint, delegate, delegating, family, tasks } from './tasks.ts';
import { bash, callsInTurn, openWorld, type World } from './world.ts';

const GO = ['-p', 'go', '--permission-mode', 'autonomous', '--output-format', 'json'];

/** A child reads, then its parent writes and runs a command. */
const working = delegating([delegate('part 1')], (request) =>
  toolResultRounds(request) === 0
    ? { toolCalls: [{ name: 'Read', input: { file_path: 'a.txt' } }] }
    : { text: 'the child has read it' },
);

function logOf({ sandbox }: World, id: string): string {
  return join(sandbox.data, 'tasks', `${id}.jsonl`);
}

async function eventsOf(world: World, id: string): Promise<readonly TaskEvent[]> {
  const lines = clean(await tasks(world, 'log', id, '--json'))
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line));
}

function snapshotOf(world: World): readonly string[] {
  const { sandbox } = world;
  return [sandbox.data, sandbox.workspace].flatMap((directory) =>
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => `${path}\n${readFileSync(path, 'latin1')}`),
  );
}

function differing({ code, stdout, stderr }: Finished): string {
  expect([code, stderr]).toEqual([1, '']);
  return stdout;
}

describe.concurrent('muster tasks rerun', () => {
  it('reports a repair of arguments once, as the log does', async () => {
    await using world = await openWorld({
      files: { 'a.txt': 'one' },
      script: callsInTurn([{ name: 'Read', input: { file_path: 'a.txt', offset: 0 } }]),
    });
    await world.run(GO);
    const { root } = await family(world);
    const { length } = await eventsOf(world, root);
    const identical = `${root}  main: ${length} events, identical\n`;
    const said = readFileSync(logOf(world, root), 'utf8');
    expect(said).toContain('[offset: 0 is below the minimum, 1 was used]');
    expect(clean(await tasks(world, 'rerun', root))).toBe(identical);
  });

  it('computes the events of a task and of all below it again, and changes nothing', async () => {
    await using world = await openWorld({ files: { 'a.txt': 'one' }, script: working });
    await world.run(GO);
    const { root, children } = await family(world);
    const [child = ''] = children;
    const asked = world.model.requests.length;
    const before = snapshotOf(world);
    const rootEvents = await eventsOf(world, root);
    const childEvents = await eventsOf(world, child);
    expect(clean(await tasks(world, 'rerun', root.slice(0, 9)))).toBe(
      `${root}  main: ${rootEvents.length} events, identical\n` +
        `${child}  general-purpose: ${childEvents.length} events, identical\n`,
    );
    expect(JSON.parse(clean(await tasks(world, 'rerun', child, '--json')))).toEqual({
      identical: true,
      tasks: [
        { task: child, agent: 'general-purpose', events: childEvents.length, difference: null },
      ],
      lost: [],
    });
    expect(world.model.requests.length).toBe(asked);
    expect(snapshotOf(world)).toEqual(before);
  });

  it('names a tool output that differs from the log', async () => {
    await using world = await openWorld({ files: { 'a.txt': 'one' }, script: working });
    await world.run(GO);
    const { root, children } = await family(world);
    const [child = ''] = children;
    const path = logOf(world, child);
    const edited = readFileSync(path, 'utf8').replace(/(1\\t)one/, '$1two');
    expect(edited).not.toBe(readFileSync(path, 'utf8'));
    writeFileSync(path, edited);
    const events = await eventsOf(world, child);
    const ended = events.find(({ type }) => type === 'call.ended');
    const callId = ended?.type === 'call.ended' ? ended.callId : '';
    const accepted = events.findLast(({ type }) => type === 'turn.accepted');
    const said = differing(await tasks(world, 'rerun', root));
    expect(said.split('\n').slice(1)).toEqual([
      `${child}  general-purpose: differs at event ${accepted?.seq} of ${events.length} (turn.accepted)`,
      `    the request of turn 2 would contain something else: the outcome of call ${callId} (Read) has changed since it was sent (event ${ended?.seq})`,
      '',
    ]);
  });
});

describe.concurrent('muster tasks branch', () => {
  const script = callsInTurn([bash('echo first')], [bash('echo second')]);

  it('continues from an event with the next request, in a new task', async () => {
    await using world = await openWorld({ script });
    await world.run(GO);
    const { root } = await family(world);
    const before = readFileSync(logOf(world, root), 'utf8');
    const [first, second] = (await eventsOf(world, root)).filter(
      ({ type }) => type === 'call.ended',
    );
    const asked = world.model.requests.length;
    const at = String((second?.seq ?? 0) - 1);
    const run = await world.run([
      'tasks',
      'branch',
      root,
      '--at',
      at,
      '--output-format',
      'json',
      '--permission-mode',
      'autonomous',
    ]);
    const { data } = envelopeOf(run);
    expect(run.stderr).toBe(
      `muster: task ${data.task_id} branches off from ${root} after event ${first?.seq} (the conversation is not whole at event ${at})\n`,
    );
    expect([run.code, data.result]).toEqual([0, 'done']);
    // What was asked before that event is not asked again.
    const [next] = world.model.requests.slice(asked);
    expect(world.model.requests.length).toBe(asked + 2);
    expect(next?.messages).toEqual(world.model.requests[asked - 2]?.messages);
    expect(readFileSync(logOf(world, root), 'utf8')).toBe(before);
    const [created] = await eventsOf(world, data.task_id);
    expect(created?.type === 'task.created' ? created.spec : null).toMatchObject({
      root: data.task_id,
      parent: null,
      branchedFrom: { task: root, seq: first?.seq },
    });
    clean(await tasks(world, 'rerun', data.task_id));
    clean(await tasks(world, 'show', data.task_id));
  });

  it('includes the files that its message names, if it may read them', async () => {
    await using world = await openWorld({
      files: { 'notes.md': 'the lock is in a.ts\n', 'secret.md': 'the key\n' },
      script: () => ({ text: 'an answer' }),
    });
    await world.run(GO);
    const { root } = await family(world);
    const last = String((await eventsOf(world, root)).length - 1);
    const words = 'See @notes.md and @secret.md';
    const branch = ['tasks', 'branch', root, '--at', last, '--prompt', words];
    const run = await world.run([...branch, '--deny', 'Read(secret.md)']);
    expect(run.code).toBe(0);
    expect(run.stderr).toMatch(/^muster: .*secret\.md.*Read\(secret\.md\)/m);
    const said = JSON.stringify(world.model.requests.at(-1)?.messages.at(-1));
    expect(said).toContain(words);
    expect(said).toContain('the lock is in a.ts');
    expect(said).not.toContain('the key');
  });

  it('accepts another model, and a message', async () => {
    await using world = await openWorld({ script: () => ({ text: 'an answer' }) });
    await world.run(GO);
    const { root } = await family(world);
    const last = String((await eventsOf(world, root)).length - 1);
    const refused = await world.run(['tasks', 'branch', root, '--at', last]);
    expect(complaint(refused, 2)).toContain('give the next message with --prompt');
    const run = await world.run([
      'tasks',
      'branch',
      root,
      '--at',
      last,
      '--prompt',
      'and now?',
      '--model',
      'anthropic/claude-haiku-4-5',
    ]);
    expect([run.code, run.stdout]).toEqual([0, 'an answer\n']);
    const request = world.model.requests.at(-1);
    expect([request?.model, request === undefined ? '' : lastUserText(request)]).toEqual([
      'claude-haiku-4-5',
      'and now?',
    ]);
    expect(request?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  it('turns a child into a conversation', async () => {
    await using world = await openWorld({ files: { 'a.txt': 'one' }, script: working });
    await world.run(GO);
    const { children } = await family(world);
    const [child = ''] = children;
    const ended = (await eventsOf(world, child)).find(({ type }) => type === 'call.ended');
    const asked = world.model.requests.length;
    const run = await world.run(['tasks', 'branch', child, '--at', String(ended?.seq)]);
    expect([run.code, run.stdout]).toEqual([0, 'the child has read it\n']);
    const [was, is] = [world.model.requests[asked - 2], world.model.requests[asked]];
    expect(is?.messages).toEqual(was?.messages);
    expect(is?.systemParts).toEqual(was?.systemParts);
  });

  it('lists the events, and asks for one', async () => {
    await using world = await openWorld({ script });
    await world.run(GO);
    const { root } = await family(world);
    const { length } = await eventsOf(world, root);
    expect(complaint(await tasks(world, 'branch', root, '--at', '999'))).toBe(
      `INVALID_PARAM: --at: must be an event of task ${root}, from 0 to ${length - 1}`,
    );
    expect(complaint(await tasks(world, 'branch', root), 2)).toContain('--at N');
  });
});

it.each([['rerun'], ['branch', '--at', '1'], ['rewind', '--to', '1']])(
  'muster tasks %s reports a log that has lost its beginning',
  async (command, ...flags) => {
    await using world = await openWorld({ script: working });
    await world.run(GO);
    const { root } = await family(world);
    writeFileSync(logOf(world, root), '');
    expect(complaint(await tasks(world, command, root, ...flags))).toContain(
      `NOT_FOUND: task ${root} cannot be used: its specification (task.created) is missing or damaged in its log (${logOf(world, root)}:1)`,
    );
  },
);
