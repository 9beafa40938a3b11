import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { toolResultRounds } from '../../src/testing/index.ts';
import { expectNothingLeft, finishedSoon } from './ending.ts';
import { eventsOf, startMuster, type Running } from './muster.ts';
import { bash, openWorld, type World } from './world.ts';
import {
  clean,
  complaint,
  countIn,
  delegate,
  delegating,
  family,
  isPart,
  startAtWork,
  statuses,
  tasks,
} from './tasks.ts';

const WAITING = bash('until [ -e go ]; do sleep 0.05; done');

/** A child that waits for a file, and then says what it was told last. */
const oneChild = delegating([delegate('part 1')], (request) =>
  toolResultRounds(request) === 0 ? { toolCalls: [WAITING] } : { text: 'the child is done' },
);

function letGo(world: World): void {
  world.sandbox.write('go', '');
}

describe.concurrent('a task of a running process, from another terminal', () => {
  it('stop ends it with all tasks below it, and says who stopped it and why', async () => {
    await using world = await openWorld({ script: oneChild });
    const running = await startAtWork(world, { commands: 1 });
    const { root, children } = await family(world);
    const doing = clean(await tasks(world, 'show', children[0] ?? ''));
    expect(doing).toMatch(/^status +running\ndoing +Bash for \d+ s\n/m);
    expect(JSON.parse(clean(await tasks(world, 'show', root, '--json')))).toMatchObject({
      activity: { kind: 'tools', running: ['Task'] },
      ended_by: null,
    });

    const stopped = await tasks(world, 'stop', root.slice(0, 8), '--because', 'it is wrong');
    expect(clean(stopped)).toBe(`task ${root}: stopped: it is wrong\n`);
    const { code, stderr } = await finishedSoon(running.finished);
    expect([code, stderr]).toEqual([6, 'muster: stopped: CANCELLED: it is wrong\n']);
    expectNothingLeft(world);
    expect(await statuses(world)).toEqual(['stopped', 'stopped']);
    expect(clean(await tasks(world, 'show', root))).toMatch(
      /^status +stopped: it is wrong\nended by +user$/m,
    );

    const again = JSON.parse(clean(await tasks(world, 'stop', root, '--json')));
    expect(again).toEqual({
      task_id: root,
      had_ended: true,
      status: 'stopped',
      ended_by: 'user',
      because: 'it is wrong',
    });
  });

  it('stop of a child lets its parent continue', async () => {
    await using world = await openWorld({ script: oneChild });
    const running = await startAtWork(world, { commands: 1 });
    const { children } = await family(world);
    const [child = ''] = children;
    expect(clean(await tasks(world, 'stop', child))).toBe(
      `task ${child}: stopped: the user stopped it\n`,
    );
    const { code, stdout } = await finishedSoon(running.finished);
    expect([code, stdout]).toEqual([0, 'the root is done\n']);
    expect(await statuses(world)).toEqual(['stopped', 'completed']);
  });

  it('send is read before the next step, once', async () => {
    await using world = await openWorld({ script: oneChild });
    const running = await startAtWork(world, { commands: 1 });
    const { children } = await family(world);
    const [child = ''] = children;
    expect(clean(await tasks(world, 'send', child, 'look in lib, too'))).toBe(
      `sent: task ${child} reads it before its next step\n`,
    );
    const told = JSON.parse(clean(await tasks(world, 'resume', child, 'and in src', '--json')));
    expect(told).toMatchObject({ task_id: child, pid: running.pid });
    expect(clean(await tasks(world, 'resume', child))).toBe(`task ${child} is already running\n`);
    letGo(world);
    expect((await running.finished).code).toBe(0);
    const requests = world.model.requests.filter(isPart);
    expect(requests.length).toBe(2);
    for (const text of ['look in lib, too', 'and in src']) {
      expect(countIn(requests[0], text)).toBe(0);
      expect(countIn(requests[1], text)).toBe(1);
    }
  });

  it('rules and limits of a run are refused if they would have no effect', async () => {
    await using world = await openWorld({ script: oneChild });
    const running = await startAtWork(world, { commands: 1 });
    const { root } = await family(world);
    const refused = await tasks(world, 'send', root, 'stop that', '--deny', 'Bash');
    expect(complaint(refused, 2)).toBe(
      `task ${root} is in process ${running.pid}, where --deny can't act: leave it out, or stop the task first`,
    );
    expect(complaint(await tasks(world, 'send', root), 2)).toMatch(/^no prompt: stdin is empty$/);
    letGo(world);
    await running.finished;
  });

  it('background lets the parent continue, and the child continues after it', async () => {
    await using world = await openWorld({ script: oneChild });
    const running = await startAtWork(world, { commands: 1 });
    const { root, children } = await family(world);
    const [child = ''] = children;
    const detached = clean(await tasks(world, 'background', child, '--json'));
    expect(JSON.parse(detached)).toEqual({
      task_id: child,
      pid: running.pid,
      text: `task ${child} continues in the background`,
    });
    expect(clean(await tasks(world, 'background', child))).toBe(
      `task ${child} is already in the background\n`,
    );
    expect(complaint(await tasks(world, 'background', root))).toMatch(
      /^INVALID_PARAM: task \w+ is a conversation; /,
    );
    // The root has its answer and waits for nothing but the child.
    await world.model.received(3);
    letGo(world);
    expect((await running.finished).code).toBe(0);
    // It is told of the end, in a request of its own.
    expect(countIn(world.model.requests.at(-1), 'the child is done')).toBe(1);
    expect(complaint(await tasks(world, 'background', child))).toBe(
      `INVALID_PARAM: task ${child} has ended: completed`,
    );
  });

  it('resume of an ended child continues in the process of its root', async () => {
    const script = delegating(
      [delegate('part quick', { run_in_background: true }), delegate('part 2')],
      (request) =>
        toolResultRounds(request) === 0 && !JSON.stringify(request.body).includes('part quick')
          ? { toolCalls: [WAITING] }
          : { text: countIn(request, 'once more') > 0 ? 'went on' : 'quickly done' },
    );
    await using world = await openWorld({ script });
    const running = await startAtWork(world, { commands: 1 });
    const { children } = await family(world);
    const quick = (await Promise.all(children.map(async (id) => showOf(world, id)))).find(
      ({ data }) => data.result === 'quickly done',
    );
    const id: string = quick?.data.task_id ?? '';
    expect(clean(await tasks(world, 'resume', id, 'once more', '--max-turns', '3'))).toBe(
      `task ${id} continues\n`,
    );
    letGo(world);
    expect((await running.finished).code).toBe(0);
    expect((await showOf(world, id)).data).toMatchObject({
      status: 'completed',
      result: 'went on',
    });
    const log = eventsOf(await tasks(world, 'log', id, '--json'));
    expect(log.find(({ type }) => type === 'task.resumed')).toMatchObject({ by: 'user' });
  });

  it('belongs to one process: another one that wants it gets a conflict error', async () => {
    await using world = await openWorld({ script: oneChild });
    const running = await startAtWork(world, { commands: 1 });
    const { root, children } = await family(world);
    const [child = ''] = children;
    const inUse = `CONFLICT: task ${root} is in use by process ${running.pid}: stop it there, or wait until it ends`;
    expect(complaint(await world.run(['--resume', root, '-p', 'mine']))).toBe(inUse);
    expect(complaint(await tasks(world, 'delete', root))).toBe(inUse);
    expect(complaint(await tasks(world, 'delete', child))).toMatch(
      /^CONFLICT: task \w+ belongs to task \w+, which is in use by process \d+: /,
    );
    letGo(world);
    expect((await running.finished).code).toBe(0);
    expect(await statuses(world)).toEqual(['completed', 'completed']);
  });
});

async function showOf(world: World, id: string) {
  return JSON.parse(clean(await tasks(world, 'show', id, '--json')));
}

describe.concurrent('muster tasks watch', () => {
  it('follows a tree from where it is to its end', async () => {
    await using world = await openWorld({ script: oneChild });
    const running = await startAtWork(world, { commands: 1 });
    const { root, children } = await family(world);
    const [child = ''] = children;
    const watch = startMuster(world.sandbox, ['tasks', 'watch', root]);
    await said(watch, '▸ general-purpose');
    clean(await tasks(world, 'send', child, 'look in lib'));
    await said(watch, 'look in lib');
    letGo(world);
    const watched = clean(await watch.finished);
    await running.finished;
    const short = child.slice(0, 6);
    const lines = watched.replaceAll(/[\d.]+ (ms|s)(?=$|\))/gm, 'TIME');
    expect(lines.split('\n')).toEqual([
      `▸ main ${root.slice(0, 6)}: running (Task for TIME): go`,
      `  ▸ general-purpose ${short}: running (Bash for TIME): part 1`,
      `  » general-purpose ${short}: look in lib`,
      `  ✓ general-purpose ${short}: 2 turns, 1 tool call, TIME`,
      `✓ main ${root.slice(0, 6)}: 2 turns, 1 tool call, TIME`,
      `task ${root}: completed: the model ended its answer`,
      '',
    ]);
    expect(clean(await tasks(world, 'watch', root))).toBe(
      `task ${root}: completed: the model ended its answer\n`,
    );
  });

  it('as JSON gives the events and the result', async () => {
    await using world = await openWorld({ script: oneChild });
    const running = await startAtWork(world, { commands: 1 });
    const { root, children } = await family(world);
    const watch = startMuster(world.sandbox, ['tasks', 'watch', root, '--json']);
    // Nothing tells from outside that it has begun but what it shows.
    const seen = said(watch, 'look in lib');
    let sent: Promise<unknown> = Promise.resolve();
    const send = () => (sent = tasks(world, 'send', children[0] ?? '', 'look in lib'));
    while (!(await Promise.race([seen.then(() => true), send().then(() => false)])));
    // One that came after the end would make the child go on.
    await sent;
    letGo(world);
    const finished = await watch.finished;
    clean(finished);
    await running.finished;
    const events = eventsOf(finished);
    for (const id of [root, ...children]) {
      const own = events.filter(({ task }) => task === id);
      expect(own.at(-1)?.type).toBe('task.ended');
      const log = eventsOf(await tasks(world, 'log', id, '--json'));
      // All of it from somewhere on, once and in its order.
      expect(own).toEqual(log.slice(-own.length));
    }
    const last = JSON.parse(finished.stdout.trimEnd().split('\n').at(-1) ?? '');
    expect(last).toMatchObject({ type: 'result', data: { task_id: root, status: 'completed' } });
  });

  it('without an id shows every task that starts, including the very first, until Ctrl-C', async () => {
    await using world = await openWorld({ script: oneChild });
    letGo(world);
    const watch = startMuster(world.sandbox, ['tasks', 'watch', '--json']);
    // It may come in the middle of one, whose end alone it then tells.
    const seen = said(watch, '"task.created"').then(() => said(watch, '"task.ended"'));
    while (!(await Promise.race([seen.then(() => true), world.run(ONE_MORE).then(() => false)])));
    watch.process.kill('SIGINT');
    const { code, stdout, stderr } = await watch.finished;
    expect([code, stderr]).toEqual([130, '']);
    const began = eventsOf({ stdout }).filter(({ type }) => type === 'task.created');
    expect(began.length).toBeGreaterThan(0);
  });
});

const ONE_MORE = ['-p', 'go', '--permission-mode', 'autonomous'];

/** Resolves when a process has said a text on stdout. */
async function said(running: Running, text: string): Promise<void> {
  const { stdout } = running.process;
  let hasEnded = false;
  const ended = running.finished.finally(() => {
    hasEnded = true;
  });
  while (!running.output().includes(text)) {
    if (hasEnded) throw new Error(`it did not say ${text} to its end: ${running.output()}`);
    await Promise.race([stdout === null ? ended : once(stdout, 'data'), ended]);
  }
}
