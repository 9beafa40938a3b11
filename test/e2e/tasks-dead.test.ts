import { describe, expect, it } from 'vitest';
import { withoutNonce } from '../nonce.ts';
import { lastUserText, toolResultRounds } from '../../src/testing/index.ts';
import { expectNothingLeft } from './ending.ts';
import { envelopeOf, eventsOf, startMuster } from './muster.ts';
import { findMarked } from './processes.ts';
import { bash, openWorld, type World } from './world.ts';
import {
  clean,
  complaint,
  delegate,
  delegating,
  family,
  isPart,
  kill,
  listed,
  startAtWork,
  statuses,
  tasks,
} from './tasks.ts';

/** A child below a child: both at work when the process is killed, with a shell that outlives it. */
function nested() {
  return delegating([delegate('part 1')], (request) => {
    if (lastUserText(request).includes('part 2')) {
      return toolResultRounds(request) === 0
        ? { toolCalls: [bash('sleep 61')] }
        : { text: 'the grandchild is done' };
    }
    return toolResultRounds(request) === 0
      ? { toolCalls: [delegate('part 2'), bash('sleep 60')] }
      : { text: 'the child is done' };
  });
}

const NESTED = { MUSTER_TASK_TOOL_NESTED: 'true' };

async function killed(world: World): Promise<void> {
  const options = { env: NESTED };
  await kill(await startAtWork(world, { commands: 2, options }));
  expect(findMarked(world.mark).length).toBeGreaterThan(0);
}

describe.concurrent('a task that its process left', () => {
  it('stop ends what still runs of it, and each log, as stopped by the user', async () => {
    await using world = await openWorld({ bare: true, script: nested() });
    await killed(world);
    expect(await statuses(world)).toEqual(['interrupted', 'interrupted', 'interrupted']);
    const { root } = await family(world);
    expect(clean(await tasks(world, 'stop', root, '--because', 'not any more'))).toBe(
      `task ${root}: stopped: not any more\n`,
    );
    expectNothingLeft(world);
    expect(await statuses(world)).toEqual(['stopped', 'stopped', 'stopped']);
    for (const { id } of await listed(world)) {
      const events = eventsOf(await tasks(world, 'log', id, '--json'));
      expect(events.at(-1)).toMatchObject({
        type: 'task.ended',
        end: { status: 'stopped', by: 'user', because: 'not any more' },
      });
      const open = new Set<string>();
      for (const event of events) {
        if (event.type === 'call.started') open.add(event.callId);
        if (event.type === 'call.ended') open.delete(event.callId);
      }
      expect([...open]).toEqual([]);
    }
    expect(clean(await tasks(world, 'stop', root))).toBe(
      `task ${root} had ended before: stopped: not any more\n`,
    );
    // It can go on all the same, and what is below it has its end.
    const on = await world.run(['tasks', 'resume', root, 'and now?', '--json']);
    expect(envelopeOf(on).data).toMatchObject({
      status: 'completed',
      result: 'the root is done',
    });
    expect(await statuses(world)).toEqual(['stopped', 'stopped', 'completed']);
  });

  it('stop is a kill where what it had started does not obey', async () => {
    const stubborn = bash("trap '' TERM; while :; do sleep 0.2; done");
    const script = delegating([stubborn], () => ({ text: 'never' }));
    await using world = await openWorld({ bare: true, script });
    await kill(await startAtWork(world, { commands: 1 }));
    const { root } = await family(world);
    expect(clean(await tasks(world, 'stop', root))).toBe(
      `task ${root}: killed: the user stopped it\n`,
    );
    expectNothingLeft(world);
  });

  it('stop of a child ends that alone; its parent goes on with what it found', async () => {
    await using world = await openWorld({ bare: true, script: nested() });
    await killed(world);
    const { root, children } = await family(world);
    const [child = ''] = children;
    clean(await tasks(world, 'stop', child));
    expect(await statuses(world)).toEqual(['stopped', 'stopped', 'interrupted']);
    const on = await world.run(['tasks', 'resume', root]);
    expect([on.code, on.stdout]).toEqual([0, 'the root is done\n']);
    expect(await statuses(world)).toEqual(['stopped', 'stopped', 'completed']);
  });

  it('resume makes it go on here, with all below it, as -p has it', async () => {
    let hangs = true;
    const script = delegating([delegate('part 1')], () =>
      hangs ? { fault: { kind: 'hang' } } : { text: 'the child is done' },
    );
    await using world = await openWorld({ bare: true, script });
    const running = world.start(['-p', 'go']);
    await world.model.received(2);
    await kill(running);
    hangs = false;
    const { root } = await family(world);
    const run = await world.run(['tasks', 'resume', root, '--output-format', 'stream-json']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(envelopeOf(run).data).toMatchObject({ task_id: root, result: 'the root is done' });
    expect(world.model.requests.filter(isPart).length).toBe(2);
    expect(await statuses(world)).toEqual(['completed', 'completed']);
  });

  it('send takes its text from stdin, too, and wakes one that has ended', async () => {
    await using world = await openWorld({
      bare: true,
      script: (request) => ({ text: `heard: ${lastUserText(request)}` }),
    });
    clean(await world.run(['-p', 'go']));
    const { root } = await family(world);
    const piped = await world.run(['tasks', 'send', root], { stdin: 'from the pipe' });
    expect(clean(piped)).toBe('heard: from the pipe\n');
    const both = await world.run(['tasks', 'send', root, 'look', '--verbose'], { stdin: 'a diff' });
    expect(withoutNonce(both.stdout)).toContain(
      'heard: look\n\n<stdin>\n<outside N>\na diff\n</outside N>\n</stdin>',
    );
    expect(both.stderr).toContain(`task ${root}`);
    expect(complaint(await world.run(['tasks', 'send', 'zzzz', 'x']))).toMatch(/^NOT_FOUND: /);
  });

  it('is told of as interrupted by watch, and background says what to do', async () => {
    await using world = await openWorld({ bare: true, script: nested() });
    await killed(world);
    const { root, children } = await family(world);
    expect(clean(await tasks(world, 'watch', root))).toBe(
      `task ${root}: interrupted: no process works on it any more; muster tasks resume ${root} continues it\n`,
    );
    const json = JSON.parse(clean(await tasks(world, 'watch', root, '--json')));
    expect(json).toMatchObject({ type: 'result', data: { status: 'interrupted' } });
    const [child = ''] = children;
    expect(complaint(await tasks(world, 'background', child))).toBe(
      `NOT_FOUND: no process runs task ${child}: continue it with \`muster tasks resume ${child}\``,
    );
  });

  it('a watch ends when the process is killed', async () => {
    await using world = await openWorld({ bare: true, script: nested() });
    const running = await startAtWork(world, { commands: 2, options: { env: NESTED } });
    const { root } = await family(world);
    const watch = startMuster(world.sandbox, ['tasks', 'watch', root]);
    await new Promise((resolve) => watch.process.stdout?.once('data', resolve));
    await kill(running);
    expect(clean(await watch.finished)).toMatch(/\ntask \w+: interrupted: no process works on it/);
  });

  it('goes on with one of two who want it', async () => {
    await using world = await openWorld({
      bare: true,
      script: () => ({ fault: { kind: 'hang' } }),
    });
    const running = world.start(['-p', 'go']);
    await world.model.received(1);
    await kill(running);
    const { root } = await family(world);
    const both = [1, 2].map(() => world.run(['--resume', root, '-p', 'on']));
    // The one that has it waits for the model; the other one can't have it.
    const loser = await Promise.race(both);
    expect(complaint(loser)).toMatch(/^CONFLICT: task \w+ is in use by process \d+: /);
    clean(await tasks(world, 'stop', root));
    const codes = (await Promise.all(both)).map(({ code }) => code);
    expect(codes.toSorted()).toEqual([1, 6]);
  });
});
