import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { deferred, onAbort } from '../../../src/base/async.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { Deadlines } from '../../../src/base/deadlines.ts';
import { BackgroundShells } from '../../../src/engine/shells/background-shells.ts';
import type { EventBody } from '../../../src/protocol/events/event.ts';
import type { TaskSpec } from '../../../src/protocol/task.ts';
import type { ShellExit, ShellWork } from '../../../src/protocol/tool.ts';
import { applyEvent } from '../../../src/protocol/state/fold.ts';
import { initialState, type TaskState } from '../../../src/protocol/state/task-state.ts';
import { testEngine } from '../support.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';

const directory = mkdtempSync(join(tmpdir(), 'muster-shell-life-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** An ordinary specification. */
const SPEC: TaskSpec = await (async () => {
  const { start, store } = testEngine(['done'].map((text) => ({ text })));
  const run = start('go');
  await run.end.written;
  await store.close();
  return run.state.spec;
})();

class Owner {
  readonly view = new Map<string, Record<string, never>>([
    ['TaskOutput', {}],
    ['TaskStop', {}],
  ]);
  readonly events: EventBody[] = [];
  readonly faults: unknown[] = [];
  readonly controller = new AbortController();
  readonly state: TaskState;
  readonly shells: BackgroundShells;
  readonly journal: {
    state: TaskState;
    record: (...bodies: readonly EventBody[]) => void;
    sync: () => Promise<void>;
  };
  /** While this is true, the log accepts no events. */
  isDiskFull = false;
  forced = 0;
  wakes = 0;
  private files = 0;

  constructor() {
    const stamp = { v: 2, ts: 0, task: SPEC.id, epoch: 1 };
    this.state = initialState({ ...stamp, seq: 0, type: 'task.created', spec: SPEC });
    const record = (...bodies: readonly EventBody[]): void => {
      if (this.isDiskFull) throw new Error('no space left');
      for (const body of bodies) {
        this.events.push(body);
        applyEvent(this.state, { ...stamp, seq: this.events.length, ...body });
      }
    };
    this.journal = { state: this.state, record, sync: () => Promise.resolve() };
    const spillFile = (_: string, id: string): string => {
      const path = join(directory, `${id}-${(this.files += 1)}`);
      writeFileSync(path, '');
      return path;
    };
    this.shells = new BackgroundShells(
      {
        store: { createSpillFile: spillFile },
        settings: { caps: { spillBytes: 10, toolMs: 60_000 }, foregroundMs: 60_000 },
        deadlines: new Deadlines(systemClock),
        onFault: (_, thrown) => void this.faults.push(thrown),
      },
      this,
    );
  }

  readonly id = 'task1';
  readonly workspace = undefined;

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  isParked(): boolean {
    return false;
  }

  recordKill(): void {
    this.forced += 1;
  }

  fail(thrown: unknown): void {
    this.controller.abort(thrown);
  }

  wake(): void {
    this.wakes += 1;
  }

  start(work: ShellWork) {
    return this.shells.createPort('call').start(work);
  }

  /** Returns the types of all written events. The end of a shell also shows how it ended. */
  story(): readonly string[] {
    return this.events.map((event) =>
      event.type === 'shell.ended' ? `${event.type} ${event.end}` : event.type,
    );
  }
}

/** A command without a process, which the test controls. */
class FakeWork implements ShellWork {
  readonly command = 'fake';
  private readonly exit = deferred<ShellExit>();
  private readonly begun = deferred<void>();
  private readonly obeys: boolean;
  write: (chunk: Buffer) => void = () => {};

  constructor({ obeys = true }: { readonly obeys?: boolean } = {}) {
    this.obeys = obeys;
    // A test may reject these promises before anything waits for them.
    this.begun.promise.catch(() => {});
    this.exit.promise.catch(() => {});
  }

  async begin(write: (chunk: Buffer) => void, signal: AbortSignal) {
    this.write = write;
    const how = this.obeys ? 'stopped' : 'killed';
    onAbort(signal, () => this.exit.resolve({ how, exitCode: null }));
    await Promise.race([this.begun.promise, this.exit.promise]);
    return { ended: this.exit.promise };
  }

  runs(): this {
    this.begun.resolve();
    return this;
  }

  fails(): void {
    this.begun.reject(new Error('no such shell'));
  }

  exits(exitCode: number): void {
    this.exit.resolve({ how: 'exited', exitCode });
  }

  breaks(): void {
    this.exit.reject(new Error('a bug'));
  }
}

describe('the life of a shell', () => {
  it('ends as lost if it breaks, and the fault is reported', async () => {
    const owner = new Owner();
    const work = new FakeWork().runs();
    const { id } = await owner.start(work);
    work.breaks();
    await owner.shells.waitForEnd(id);
    expect(owner.story()).toEqual(['shell.started', 'input.queued', 'shell.ended lost']);
    expect(owner.faults).toEqual([new Error('a bug')]);
  });

  it('that could not be started leaves no event and no file', async () => {
    const owner = new Owner();
    const work = new FakeWork();
    const started = owner.start(work);
    work.fails();
    await expect(started).rejects.toThrow('no such shell');
    expect(owner.story()).toEqual([]);
    await owner.shells.stopAll();
  });

  it('whose start cannot be written is stopped', async () => {
    const owner = new Owner();
    owner.isDiskFull = true;
    const work = new FakeWork().runs();
    await expect(owner.start(work)).rejects.toThrow('no space left');
    owner.isDiskFull = false;
    await owner.shells.stopAll();
    expect(owner.story()).toEqual([]);
  });

  it('whose end cannot be written fails its task, and the end is written once with that of the task', async () => {
    const owner = new Owner();
    const work = new FakeWork().runs();
    const { id } = await owner.start(work);
    owner.isDiskFull = true;
    work.exits(0);
    await owner.shells.waitForEnd(id);
    expect(owner.faults).toEqual([new Error('no space left')]);
    // The task fails, because it could never wait for the end of the shell.
    expect(owner.signal.reason).toEqual(new Error('no space left'));
    await expect(owner.shells.stopAll()).rejects.toThrow('no space left');
    owner.isDiskFull = false;
    await owner.shells.stopAll();
    await owner.shells.stopAll();
    expect(owner.story()).toEqual(['shell.started', 'input.queued', 'shell.ended exited']);
  });

  it('ends if its task is stopped while it starts', async () => {
    const owner = new Owner();
    const started = owner.start(new FakeWork());
    owner.controller.abort(stopOrder('user', 'enough'));
    await owner.shells.stopAll();
    const { output } = await started;
    expect(owner.story()).toEqual(['shell.started', 'shell.ended stopped']);
    expect(existsSync(output)).toBe(true);
    await expect(owner.start(new FakeWork())).rejects.toMatchObject({ reason: 'enough' });
  });

  it.each([
    ['when its task is stopped', true, 1],
    ['when it alone is stopped', false, 0],
  ])('that had to be killed counts as a kill of its task %s', async (_, isStopped, forced) => {
    const owner = new Owner();
    await owner.start(new FakeWork({ obeys: false }).runs());
    if (isStopped) owner.controller.abort(stopOrder('user', 'enough'));
    await owner.shells.stopAll();
    expect(owner.story()).toEqual(['shell.started', 'shell.ended killed']);
    expect(owner.forced).toBe(forced);
  });

  it('ends after too much output, which is reported', async () => {
    const owner = new Owner();
    const work = new FakeWork().runs();
    const { id } = await owner.start(work);
    for (const text of ['12345', '67890', '!', 'more']) work.write(Buffer.from(text));
    await owner.shells.waitForEnd(id);
    expect(owner.story()).toEqual(['shell.started', 'input.queued', 'shell.ended output_limit']);
    expect(owner.shells.outputProblem(id)).toBe(
      'the output is more than the limit output.spill_bytes = 10',
    );
  });

  it('counts toward the maximum before it runs, so that starts of one message count', async () => {
    const owner = new Owner();
    const works = Array.from({ length: 17 }, () => new FakeWork());
    const starts = Promise.allSettled(works.map((work) => owner.start(work)));
    for (const work of works) work.runs();
    const outcomes = await starts;
    expect(outcomes.filter(({ status }) => status === 'rejected').length).toBe(1);
    await owner.shells.stopAll();
    expect(owner.story().filter((type) => type === 'shell.ended stopped').length).toBe(16);
  });
});

const STEP = fc.oneof(
  fc.record({ do: fc.constantFrom('start', 'runs', 'fails', 'breaks'), n: fc.nat(9) }),
  fc.record({ do: fc.constant('exits'), n: fc.nat(9) }),
  fc.record({ do: fc.constantFrom('stop told', 'stop untold', 'stop all'), n: fc.nat(9) }),
  fc.record({
    do: fc.constantFrom('disk full', 'disk free', 'wait', 'stop task'),
    n: fc.constant(0),
  }),
);

describe('whatever happens, in whatever order', () => {
  it('each started shell ends once, and is reported unless its owner already knows', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { maxLength: 40 }), async (steps) => {
        const owner = new Owner();
        const works: FakeWork[] = [];
        const waits: Promise<unknown>[] = [];
        const settle = (wait: Promise<unknown>) => waits.push(Promise.allSettled([wait]));
        const ids = () => [...owner.state.shells.keys()];
        for (const { do: what, n } of steps) {
          const work = works[n % Math.max(1, works.length)];
          const id = ids()[n % Math.max(1, ids().length)] ?? 'none';
          if (what === 'start') {
            const next = new FakeWork({ obeys: n % 2 === 0 });
            works.push(next);
            settle(owner.start(next));
          } else if (what === 'runs') work?.runs();
          else if (what === 'fails') work?.fails();
          else if (what === 'breaks') work?.breaks();
          else if (what === 'exits') work?.exits(n);
          else if (what === 'stop told') settle(owner.shells.stop([id], { notify: true }));
          else if (what === 'stop untold') settle(owner.shells.stop([id], { notify: false }));
          else if (what === 'stop all') owner.shells.abortAll();
          else if (what === 'stop task') owner.controller.abort(stopOrder('user', 'enough'));
          else if (what === 'wait') await new Promise(setImmediate);
          else owner.isDiskFull = what === 'disk full';
        }
        owner.isDiskFull = false;
        await owner.shells.stopAll();
        await Promise.all(waits);
        await owner.shells.stopAll();

        const started = owner.events.filter(({ type }) => type === 'shell.started');
        const ended = owner.events.flatMap((event) =>
          event.type === 'shell.ended' ? [event] : [],
        );
        expect(ended.map(({ shell }) => shell).toSorted()).toEqual(ids().toSorted());
        expect(started.length).toBe(ids().length);
        const told = owner.events.flatMap((event) =>
          event.type === 'input.queued' ? [event.input.from] : [],
        );
        expect(new Set(told).size).toBe(told.length);
        for (const { shell, end } of ended) {
          if (end === 'exited') expect(told).toContain(shell);
        }
      }),
      { numRuns: 200 },
    );
  });
});
