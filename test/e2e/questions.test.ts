import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { expectNothingLeft } from './ending.ts';
import { envelopeOf, eventsOf, runMuster, type Running } from './muster.ts';
import { findMarked } from './processes.ts';
import {
  clean,
  complaint,
  countIn,
  delegate,
  delegating,
  family,
  kill,
  listed,
  statuses,
  tasks,
} from './tasks.ts';
import { bash, callsInTurn, openWorld, type World } from './world.ts';

interface Listed {
  readonly id: string;
  readonly task_id: string;
  readonly chain: readonly string[];
  readonly commands: readonly string[];
  readonly text: string | null;
  readonly rule: string | null;
  readonly scopes: readonly string[];
  readonly pid: number | null;
}

async function questions(world: World): Promise<readonly Listed[]> {
  return JSON.parse(clean(await tasks(world, 'answer', '--json')));
}

/** Waits for them, of a run that is at work. */
async function asked(world: World, count: number): Promise<readonly Listed[]> {
  for (;;) {
    const found = await questions(world);
    if (found.length >= count) return found;
    await sleep(50);
  }
}

/** A child that makes these calls, one after another. */
function child(...commands: readonly string[]): (request: RecordedRequest) => Answer {
  return callsInTurn(...commands.map((command) => [bash(command)]));
}

/** Answers here, where the tree goes on. */
function answer(world: World, ...args: readonly string[]) {
  return world.run(['tasks', 'answer', ...args]);
}

async function eventsIn(world: World, id: string): Promise<readonly TaskEvent[]> {
  return eventsOf(await tasks(world, 'log', id, '--json'));
}

function typed<T extends TaskEvent['type']>(events: readonly TaskEvent[], type: T) {
  return events.filter((event): event is Extract<TaskEvent, { type: T }> => event.type === type);
}

const PARK = ['--on-ask', 'park'];

describe.concurrent('a run that parks', () => {
  it('says what it asks and how to answer it, and continues with the answer', async () => {
    await using world = await openWorld({
      script: delegating([delegate('part 1')], child('touch made')),
    });
    const run = await world.run(['-p', 'go', ...PARK]);
    const [open] = await questions(world);
    const { root, children } = await family(world);
    expect([run.code, open]).toMatchObject([
      5,
      {
        id: `${children[0]}q1`,
        task_id: children[0],
        chain: ['main', 'general-purpose'],
        commands: ['touch made'],
        rule: 'Bash(touch made)',
        scopes: expect.arrayContaining(['task']),
        pid: null,
      },
    ]);
    expect(run.stderr).toContain('  | touch made\n');
    expect(run.stderr).toContain(`  muster tasks answer ${open?.id} yes|no\n`);
    expect(await statuses(world)).toEqual(['parked', 'parked']);
    expect(clean(await tasks(world, 'list'))).toContain(`[asks: ${open?.id}]`);
    expect(clean(await tasks(world, 'show', root))).toContain(`asks     ${open?.id}\n`);
    for (const id of [root, ...children]) {
      expect(typed(await eventsIn(world, id), 'task.ended')).toEqual([]);
    }
    const on = await answer(world, open?.id ?? '', 'yes', '--json');
    expect([on.code, envelopeOf(on).data]).toMatchObject([
      0,
      { task_id: root, status: 'completed', result: 'the root is done' },
    ]);
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(true);
    expect(await questions(world)).toEqual([]);
    expect(complaint(await answer(world, open?.id ?? '', 'no'))).toBe(
      `CONFLICT: question ${open?.id} is answered: yes`,
    );
    expect(countIn(world.model.requests.at(-1), 'the root is done')).toBe(0);
  });

  it('shows a plan, changes nothing before it is approved, and then carries it out', async () => {
    const write = { name: 'Write', input: { file_path: 'made', content: 'as planned' } };
    const show = { name: 'ExitPlanMode', input: { plan: '1. Write **made**' } };
    await using world = await openWorld({ script: callsInTurn([write], [show], [write]) });
    const run = await world.run(['-p', 'go', '--permission-mode', 'plan', ...PARK]);
    const [open] = await questions(world);
    const made = join(world.sandbox.workspace, 'made');
    expect([run.code, open, existsSync(made)]).toMatchObject([
      5,
      { kind: 'plan', text: '1. Write **made**' },
      false,
    ]);
    expect(run.stderr).toContain('main asks to carry out this plan:\n  | 1. Write **made**\n');
    expect((await answer(world, open?.id ?? '', 'always')).code).toBe(0);
    expect(existsSync(made)).toBe(true);
    const { root } = await family(world);
    expect(typed(await eventsIn(world, root), 'terms.changed')).toMatchObject([
      { rights: { mode: 'acceptEdits' } },
    ]);
    expect((await tasks(world, 'rerun', root)).code).toBe(0);
  });

  it('has its questions in the envelope and in the events', async () => {
    await using world = await openWorld({ script: callsInTurn([bash('touch made')]) });
    const run = await world.run(['-p', 'go', ...PARK, '--output-format', 'stream-json']);
    const { id = '' } = (await questions(world))[0] ?? {};
    expect([run.code, envelopeOf(run)]).toMatchObject([
      5,
      {
        status: 'error',
        data: { status: 'parked', questions: [{ id, commands: ['touch made'] }] },
        error: { code: 'PERMISSION_DENIED', retryable: true },
      },
    ]);
    const events = eventsOf(run);
    expect(typed(events, 'question.asked')).toMatchObject([{ question: { id }, parks: true }]);
    expect(events.at(-1)).toMatchObject({ type: 'task.parked', questions: [id] });
  });

  it('asks the other questions again when one is answered, in any order', async () => {
    await using world = await openWorld({
      script: delegating([delegate('part 1'), delegate('part 2')], (request) =>
        child(countIn(request, 'part 1') > 0 ? 'touch first' : 'touch second')(request),
      ),
    });
    expect((await world.run(['-p', 'go', ...PARK])).code).toBe(5);
    const open = await questions(world);
    const second = open.find(({ commands }) => commands[0] === 'touch second');
    const first = open.find(({ commands }) => commands[0] === 'touch first');
    expect((await answer(world, second?.id ?? '', 'yes')).code).toBe(5);
    expect((await questions(world)).map(({ id }) => id)).toEqual([first?.id]);
    expect(existsSync(join(world.sandbox.workspace, 'second'))).toBe(true);
    expect(existsSync(join(world.sandbox.workspace, 'first'))).toBe(false);
    expect((await answer(world, first?.id ?? '', 'yes')).code).toBe(0);
    expect(existsSync(join(world.sandbox.workspace, 'first'))).toBe(true);
    const events = await eventsIn(world, first?.task_id ?? '');
    expect(typed(events, 'question.asked')).toHaveLength(1);
  });

  it('is ended by a stop, and asks nothing any more', async () => {
    await using world = await openWorld({ script: callsInTurn([bash('touch made')]) });
    await world.run(['-p', 'go', ...PARK]);
    const [open] = await questions(world);
    const { root } = await family(world);
    expect(clean(await tasks(world, 'stop', root))).toContain('stopped');
    expect([await questions(world), await statuses(world)]).toEqual([[], ['stopped']]);
    expect(complaint(await answer(world, open?.id ?? '', 'yes'))).toMatch(
      /^CONFLICT: question \w+ is withdrawn: its call was ended$/,
    );
  });

  it('lets a parent continue while a child in the background is parked', async () => {
    await using world = await openWorld({
      script: delegating([delegate('part 1', { run_in_background: true })], child('touch made')),
    });
    expect((await world.run(['-p', 'go', ...PARK])).code).toBe(5);
    const { root } = await family(world);
    // Its answer came while the child was parked.
    expect(typed(await eventsIn(world, root), 'turn.ended')).toHaveLength(2);
    const [open] = await questions(world);
    const on = await answer(world, open?.id ?? '', 'no', '--reason', 'leave it');
    expect(on.code).toBe(0);
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(false);
    const told = JSON.stringify(world.model.requests.map(({ body }) => body));
    expect(told).toContain('The user said no and gave this instruction: leave it.');
  });

  it('ends a child after three denials in a row, counted across its processes', async () => {
    await using world = await openWorld({
      script: delegating([delegate('part 1')], child('touch a', 'touch b', 'touch c', 'touch d')),
    });
    expect((await world.run(['-p', 'go', ...PARK])).code).toBe(5);
    const codes: (number | null)[] = [];
    for (let round = 0; round < 3; round += 1) {
      const [open] = await questions(world);
      codes.push((await answer(world, open?.id ?? '', 'no')).code);
    }
    expect([codes, await questions(world)]).toEqual([[5, 5, 0], []]);
    expect(await statuses(world)).toEqual(['failed', 'completed']);
    expect(
      countIn(world.model.requests.at(-1), 'PERMISSION_DENIED: the user said no 3 times'),
    ).toBe(1);
  });

  it('gives a rule to the conversation, whose other questions it releases', async () => {
    await using world = await openWorld({
      script: delegating([delegate('part 1'), delegate('part 2')], (request) =>
        countIn(request, 'part 1') > 0
          ? child('touch made', 'touch made')(request)
          : child('touch made')(request),
      ),
    });
    await world.run(['-p', 'go', ...PARK]);
    const open = await questions(world);
    const { root, children } = await family(world);
    const one = open.find(({ task_id }) => task_id === children[0]);
    expect(
      complaint(await answer(world, one?.id ?? '', 'always', '--scope', 'task', '--x'), 2),
    ).toMatch(/^unknown flag --x/);
    expect((await answer(world, one?.id ?? '', 'always')).code).toBe(0);
    expect(await questions(world)).toEqual([]);
    const other = await eventsIn(world, children[1] ?? '');
    expect(typed(other, 'question.answered')).toMatchObject([{ by: 'rule' }]);
    const events = await eventsIn(world, children[0] ?? '');
    expect(typed(await eventsIn(world, root), 'rights.granted')).toMatchObject([
      { scope: 'task', rule: { text: 'Bash(touch made)' }, question: one?.id },
    ]);
    expect(typed(events, 'question.asked')).toHaveLength(1);
    expect(typed(events, 'call.ended')).toHaveLength(2);
  });
});

describe.concurrent('an always beyond its task', () => {
  it('holds for the next run in the project, until it is revoked', async () => {
    await using world = await openWorld({ script: callsInTurn([bash('touch made')]) });
    await world.run(['-p', 'go', ...PARK]);
    const [open] = await questions(world);
    expect(open?.scopes).toEqual(['task', 'project', 'user']);
    expect((await answer(world, open?.id ?? '', 'always', '--scope', 'project')).code).toBe(0);
    const made = join(world.sandbox.workspace, 'made');
    rmSync(made);
    expect((await world.run(['-p', 'go'])).code).toBe(0);
    expect(existsSync(made)).toBe(true);
    rmSync(made);
    clean(await runMuster(world.sandbox, ['trust', 'revoke', 'Bash(touch made)']));
    expect((await world.run(['-p', 'go'])).code).toBe(0);
    expect(existsSync(made)).toBe(false);
  });
});

/** A root with a child that asks, and one at work until the file `go` is there. */
function oneAtWork() {
  const wait = 'while [ ! -e go ]; do sleep 0.05; done';
  return delegating([delegate('part 1'), delegate('part 2')], (request) =>
    child(countIn(request, 'part 1') > 0 ? 'touch made' : wait)(request),
  );
}

async function startAsking(world: World): Promise<Running> {
  return world.start([
    '-p',
    'go',
    ...PARK,
    '--allow',
    'Bash(while [ ! -e go ]; do sleep 0.05; done)',
  ]);
}

describe.concurrent('a question of a living process', () => {
  it('is answered from another terminal, and the task continues in its process', async () => {
    await using world = await openWorld({ script: oneAtWork() });
    const running = await startAsking(world);
    const [open] = await asked(world, 1);
    expect(open?.pid).toBe(running.pid);
    expect(await statuses(world)).toContain('parked');
    const id = open?.id ?? '';
    expect(complaint(await tasks(world, 'answer', id, 'yes', '--model', 'x'), 2)).toContain(
      `at work in process ${running.pid}`,
    );
    expect(complaint(await tasks(world, 'answer', id, 'perhaps'))).toContain(
      'valid: yes, always, no',
    );
    expect(clean(await tasks(world, 'answer', id.slice(0, -1), 'yes'))).toBe(
      `question ${id} is answered: task ${open?.task_id} continues\n`,
    );
    expect(complaint(await tasks(world, 'answer', id, 'yes'))).toContain(
      `question ${id} is answered`,
    );
    world.sandbox.write('go', '');
    expect((await running.finished).code).toBe(0);
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(true);
  });

  it('is the same after a kill -9 and a resume, once in the log', async () => {
    await using world = await openWorld({ script: oneAtWork() });
    const running = await startAsking(world);
    const [open] = await asked(world, 1);
    await kill(running);
    expect(await questions(world)).toEqual([{ ...open, pid: null }]);
    const { root } = await family(world);
    world.sandbox.write('go', '');
    expect((await world.run(['tasks', 'resume', root])).code).toBe(5);
    expect(await questions(world)).toEqual([{ ...open, pid: null }]);
    expect(typed(await eventsIn(world, open?.task_id ?? ''), 'question.asked')).toHaveLength(1);
    expect((await answer(world, open?.id ?? '', 'yes')).code).toBe(0);
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(true);
  });

  it('does not keep a signal from ending the run', async () => {
    await using world = await openWorld({ script: oneAtWork() });
    const running = await startAsking(world);
    await asked(world, 1);
    running.process.kill('SIGINT');
    expect((await running.finished).code).toBe(130);
    expectNothingLeft(world);
    expect(await questions(world)).toEqual([]);
    expect(findMarked(world.mark)).toEqual([]);
  });
});

describe.concurrent('AskUser', () => {
  const ask = {
    name: 'AskUser',
    input: { question: 'Which database?', options: ['test', 'staging'] },
  };

  it('is answered by an option or a text, and its answer reaches the model', async () => {
    await using world = await openWorld({
      script: (request) =>
        toolResultRounds(request) === 0 ? { toolCalls: [ask] } : { text: 'done' },
    });
    const run = await world.run(['-p', 'go', ...PARK]);
    const [open] = await questions(world);
    expect(run.stderr).toContain(`  muster tasks answer ${open?.id} "TEXT"|1..2\n`);
    expect(open?.text).toBe('Which database?');
    expect((await answer(world, open?.id ?? '', '2')).code).toBe(0);
    expect(world.model.requests.at(-1)?.messages.at(-1)?.toolResults?.[0]?.text).toBe('staging');
  });

  it('is refused at once if nobody is there', async () => {
    await using world = await openWorld({ script: callsInTurn([ask]) });
    expect((await world.run(['-p', 'go'])).code).toBe(0);
    expect(world.model.requests.at(-1)?.messages.at(-1)?.toolResults?.[0]?.text).toContain(
      'Nobody is here to answer',
    );
  });
});

describe.concurrent('muster tasks answer', () => {
  it('reports that there is nothing to answer', async () => {
    await using world = await openWorld({ script: callsInTurn([bash('true')]) });
    expect(clean(await tasks(world, 'answer'))).toBe('No question is open.\n');
    await world.run(['-p', 'go']);
    expect(complaint(await tasks(world, 'answer', 'abc', 'yes'))).toBe(
      'NOT_FOUND: there is no open question abc; no question is open',
    );
    expect((await listed(world)).map(({ status }) => status)).toEqual(['completed']);
  });

  it('offers no rule for a refusal that no rule can lift', async () => {
    await using world = await openWorld({
      script: callsInTurn([{ name: 'Write', input: { file_path: '.envrc', content: 'x' } }]),
    });
    await world.run(['-p', 'go', ...PARK]);
    const [open] = await questions(world);
    expect([open?.rule, open?.scopes]).toEqual([null, []]);
    expect(complaint(await tasks(world, 'answer', open?.id ?? '', 'always'))).toMatch(
      /^INVALID_PARAM: question \w+: the answer "always" is not offered, only yes \(this once\) and no/,
    );
    const shown = clean(await tasks(world, 'answer', open?.id ?? ''));
    expect(shown).toContain('.envrc\n  | + x\n');
    expect((await answer(world, open?.id ?? '', 'yes')).code).toBe(0);
    expect(existsSync(join(world.sandbox.workspace, '.envrc'))).toBe(true);
  });

  it('is for no single agent, and an "always" is for the project of the task wherever it is given', async () => {
    await using world = await openWorld({ script: callsInTurn([bash('touch made')]) });
    await world.run(['-p', 'go', ...PARK]);
    const { id = '' } = (await questions(world))[0] ?? {};
    const given = ['tasks', 'answer', id, 'always', '--scope', 'project'];
    expect(complaint(await world.run(given, { env: { MUSTER_TASK: 'abcdefgh1234' } }), 2)).toBe(
      'an agent cannot answer questions; run this in a shell of your own',
    );
    expect((await world.run(given, { cwd: world.sandbox.home })).code).toBe(0);
    const { answers } = JSON.parse(readFileSync(join(world.sandbox.data, 'answers.json'), 'utf8'));
    expect(answers).toMatchObject([{ rule: 'Bash(touch made)', project: world.sandbox.workspace }]);
  });

  it('from two terminals at once reports the conflict to one of them', async () => {
    await using world = await openWorld({
      script: delegating([delegate('part 1'), delegate('part 2')], (request) =>
        child(countIn(request, 'part 1') > 0 ? 'touch first' : 'touch second')(request),
      ),
    });
    await world.run(['-p', 'go', ...PARK]);
    const open = await questions(world);
    const runs = await Promise.all(open.map(({ id }) => answer(world, id, 'yes')));
    expect(runs.map(({ stderr }) => stderr).join('')).not.toContain('CONFLICT');
    for (const name of ['first', 'second']) {
      expect(existsSync(join(world.sandbox.workspace, name))).toBe(true);
    }
    expect(await questions(world)).toEqual([]);
    expect(new Set(await statuses(world))).toEqual(new Set(['completed']));
  });
});
