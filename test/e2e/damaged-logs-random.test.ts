import * as fc from 'fast-check';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTasks } from '../../src/api/tasks/tasks.ts';
import type { Tasks } from '../../src/api/tasks/contract.ts';
import { MusterError } from '../../src/base/errors.ts';
import { firstUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { randomRuns } from '../engine/random-runs.ts';
import { runMuster, Sandbox } from './muster.ts';
import { bash, openWorld, type World } from './world.ts';

const RUNS = randomRuns(15);

/** The second line, one in the middle, and the last one. */
const PLACES = [0.06, 0.5, 0.99] as const;

function script(request: RecordedRequest) {
  const round = toolResultRounds(request);
  if (firstUserText(request) !== 'go' || round > 1) return { text: 'done' };
  const child = { name: 'Task', input: { prompt: 'look', description: 'the child' } };
  return { toolCalls: [round === 0 ? child : bash('seq 20000')] };
}

/** Damages of the line at `at`, by name. */
const DAMAGES: Readonly<Record<string, (lines: Buffer[], at: number) => void>> = {
  garbage: (lines, at) => void (lines[at] = Buffer.from('\u0001\u00ff garbage {')),
  'another shape': (lines, at) => void (lines[at] = Buffer.from('{"v":1,"type":"turn.ended"}')),
  'no object': (lines, at) => void (lines[at] = Buffer.from('[1,"x",null]')),
  empty: (lines, at) => void (lines[at] = Buffer.alloc(0)),
  zeros: (lines, at) => void (lines[at] = Buffer.alloc(lines[at]?.length ?? 1)),
  'cut off': (lines, at) => void (lines[at] = (lines[at] ?? Buffer.alloc(0)).subarray(0, 30)),
  'no UTF-8': (lines, at) => void (lines[at] = Buffer.from([0xff, 0xfe, 0x7b])),
  missing: (lines, at) => void lines.splice(at, 1),
  twice: (lines, at) => void lines.splice(at, 0, lines[at] ?? Buffer.alloc(0)),
  joined: (lines, at) => void lines.splice(at, 2, Buffer.concat(lines.slice(at, at + 2))),
  huge: (lines, at) => void (lines[at] = Buffer.alloc(34 * 1024 * 1024, 'x')),
};

interface Damage {
  readonly kind: string;
  readonly task: 'parent' | 'child';
  /** From 0 to 1: which line, the last one aside where its loss could not be seen. */
  readonly where: number;
}

const damages: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom(...Object.keys(DAMAGES)),
  task: fc.constantFrom('parent', 'child'),
  where: fc.oneof(fc.constantFrom(0, 0.06, 0.99), fc.double({ min: 0, max: 0.99, noNaN: true })),
});

describe('a log that is damaged at random', () => {
  let world: World;
  let ids: { readonly parent: string; readonly child: string; readonly other: string };
  let whole: unknown;

  beforeAll(async () => {
    world = await openWorld({ script });
    for (const prompt of ['go', 'another conversation']) {
      const args = ['-p', prompt, '--permission-mode', 'autonomous'];
      expect((await world.run(args)).code).toBe(0);
    }
    const tasks = openTasks({ dataDir: world.sandbox.data });
    const all = tasks.list();
    const parent = all.find(({ id }) => all.some((task) => task.parent === id))?.id ?? '';
    const child = all.find((task) => task.parent === parent)?.id ?? '';
    const other = all.find((task) => task.id !== parent && task.id !== child)?.id ?? '';
    ids = { parent, child, other };
    whole = tasks.state(other);
    await tasks.close();
  });

  afterAll(() => world[Symbol.asyncDispose]());

  /** Copies the data directory, and damages a log in the copy. */
  function damaged({ kind, task, where }: Damage, dataDir: string): string {
    cpSync(world.sandbox.data, dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'index.jsonl'), '');
    const path = join(dataDir, 'tasks', `${ids[task]}.jsonl`);
    const lines = readFileSync(path, 'latin1')
      .split('\n')
      .slice(0, -1)
      .map((line) => Buffer.from(line, 'latin1'));
    // A whole line that is missing at the end, or joined to none, cannot be seen.
    const last = kind === 'missing' || kind === 'joined' ? lines.length - 2 : lines.length - 1;
    // A log may do without its header.
    const first = kind === 'missing' ? 1 : 0;
    DAMAGES[kind]?.(lines, first + Math.floor(where * (last - first + 1)));
    writeFileSync(path, Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')])));
    return path;
  }

  /** What each reader came to: nothing but a MusterError ends one. */
  async function readAll(tasks: Tasks, dataDir: string): Promise<void> {
    const { parent, child, other } = ids;
    const readers: readonly (() => unknown)[] = [
      () => tasks.list(),
      () => tasks.usage({ by: 'task', since: null, task: null }),
      () => tasks.usage({ by: 'day', since: null, task: parent }),
      () => tasks.questions(),
      ...[parent, child, other].flatMap((id) => [
        () => tasks.envelope(tasks.state(id)),
        () => tasks.report(id),
        () => tasks.context(id, null),
        () => readEvents(tasks, id),
        async () => {
          const end = await tasks.watch(id, {
            listener: IDLE,
            signal: AbortSignal.timeout(30_000),
          });
          expect(end).not.toBe('aborted');
        },
        () => tasks.rerun(id),
        () => tasks.planRewind(id, { to: 4 }),
        () => tasks.processFor(id),
      ]),
      () => moveTree(tasks, parent, `${dataDir}-imported`),
    ];
    for (const read of readers) {
      try {
        await read();
      } catch (thrown) {
        if (!(thrown instanceof MusterError)) throw thrown;
        expect(thrown.message).not.toContain('\n');
      }
    }
    expect(tasks.state(other)).toEqual(whole);
  }

  it('is read by everything, costs no other task, and is reported', RUNS.test, async () => {
    await fc.assert(
      fc.asyncProperty(damages, async (damage) => {
        const base = mkdtempSync(join(tmpdir(), 'muster-damage-'));
        try {
          const dataDir = join(base, 'data');
          const path = damaged(damage, dataDir);
          const notices: string[] = [];
          const tasks = openTasks({ dataDir, onNotice: (line) => notices.push(line) });
          await readAll(tasks, dataDir);
          expect(notices.filter((line) => line.startsWith(`${path}:`)).length).toBeGreaterThan(0);
          expect(notices.filter((line) => line.includes('\n'))).toEqual([]);
          expect(new Set(notices).size).toBe(notices.length);
          await tasks.delete([ids.parent]);
          await tasks.prune(0);
          await tasks.close();
        } finally {
          rmSync(base, { recursive: true, force: true });
        }
      }),
      RUNS.runs,
    );
  });

  it.each(Object.keys(DAMAGES).map((kind, index) => [kind, PLACES[index % PLACES.length] ?? 0]))(
    '%s at %d of it: a resume goes on or says why not',
    async (kind, where) => {
      using sandbox = new Sandbox();
      damaged({ kind: String(kind), task: 'parent', where: Number(where) }, sandbox.data);
      const env = world.model.env('anthropic');
      const run = await runMuster(sandbox, ['--resume', ids.parent, '-p', 'on'], { env });
      expect([run.signal, run.stderr]).toEqual([
        null,
        expect.not.stringMatching(/ a bug in Muster|\n\s+at /),
      ]);
      expect([0, 1]).toContain(run.code);
      if (run.code === 0) expect(run.stdout).toBe('done\n');
      else
        expect(run.stderr).toMatch(
          /its specification is missing or damaged in [^\n]+\.jsonl:\d+\n$/,
        );
    },
  );
});

const IDLE = { atWork: () => {}, event: () => {}, left: () => {} };

async function readEvents(tasks: Tasks, id: string): Promise<void> {
  let last = -1;
  for await (const { seq } of tasks.events(id)) {
    expect(seq).toBeGreaterThan(last);
    last = seq;
  }
}

async function moveTree(tasks: Tasks, id: string, dataDir: string): Promise<void> {
  const into = openTasks({ dataDir, create: true });
  try {
    await into.importTree(tasks.exportTree(id));
  } finally {
    await into.close();
  }
}
