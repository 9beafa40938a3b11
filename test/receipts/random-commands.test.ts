import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { FileChange } from '../../src/protocol/tool.ts';
import { firstUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { envelopeOf, runMuster } from '../e2e/muster.ts';
import { bash, openWorld, type World } from '../e2e/world.ts';
import { PREPARE, randomCommand } from '../sys/files/changes/random-commands.ts';
import {
  compareSnapshots,
  takeSnapshot,
  type ComparableChange,
  type TreeSnapshot,
} from '../sys/files/changes/tree-snapshot.ts';

/** Only ends a run that hangs: on an idle machine it takes half a minute. */
const TIMEOUT_MS = 900_000;
const ROUNDS = 5;
const COMMANDS_IN_A_ROUND = 25;
/** The directories of the subagents that run commands. A third subagent edits files in `edits`. */
const WORKERS = ['first', 'second'];

/** A command, and what an independent comparison of its directory before and after has found. */
interface ObservedCommand {
  readonly worker: string;
  readonly changes: readonly ComparableChange[];
}

/** The workers of one run, and what they have done. */
class Script {
  readonly seed = fc.sample(fc.integer(), 1)[0] ?? 0;
  readonly observed: ObservedCommand[] = [];
  private readonly snapshots = new Map<string, TreeSnapshot>();
  private readonly commands = new Map(
    WORKERS.map((worker, index) => [
      worker,
      fc.sample(randomCommand, { seed: this.seed + index, numRuns: ROUNDS * COMMANDS_IN_A_ROUND }),
    ]),
  );
  world: World | null = null;

  answer(request: RecordedRequest) {
    const round = toolResultRounds(request);
    if (request.systemParts.join('\n').includes("in the user's terminal")) {
      if (round === ROUNDS) return { text: 'done' };
      const prompts = [...WORKERS, 'edits'].map((worker) => `${worker} in round ${round}`);
      return {
        toolCalls: prompts.map((prompt) => ({
          name: 'Task',
          input: { prompt, description: prompt },
        })),
      };
    }
    const [worker = '', , , bigRound = '0'] = firstUserText(request).split(' ');
    if (worker === 'edits') return this.edit(round, bigRound);
    this.compare(worker, round);
    const command = this.commands.get(worker)?.[Number(bigRound) * COMMANDS_IN_A_ROUND + round];
    if (round === COMMANDS_IN_A_ROUND || command === undefined)
      return { text: `done with ${worker}` };
    return { toolCalls: [bash(`cd ${worker} && ${PREPARE}\n${command}`)] };
  }

  /** Compares the directory of a worker with the last snapshot: only its own commands change it. */
  private compare(worker: string, round: number): void {
    const directory = join(this.world?.sandbox.workspace ?? '', worker);
    const now = takeSnapshot(directory);
    const before = this.snapshots.get(worker);
    this.snapshots.set(worker, now);
    if (round === 0 || before === undefined) return;
    this.observed.push({ worker, changes: compareSnapshots(before, now) });
  }

  private edit(round: number, bigRound: string) {
    if (round === COMMANDS_IN_A_ROUND) return { text: 'done with edits' };
    const file_path = `edits/${round % 7}-${bigRound}.txt`;
    if (round % 7 === 6) return { toolCalls: [{ name: 'Read', input: { file_path } }] };
    return {
      toolCalls: [{ name: 'Write', input: { file_path, content: `${bigRound} ${round}` } }],
    };
  }
}

/** Reads the outcomes of all commands from the logs, for each worker in order. */
function readReceipts(world: World): ReadonlyMap<string, readonly (readonly FileChange[])[]> {
  const tasks = join(world.sandbox.data, 'tasks');
  const logs = readdirSync(tasks)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(tasks, name), 'utf8').trimEnd().split('\n').slice(1))
    .map((lines) => lines.map((line): TaskEvent => JSON.parse(line)));
  const ordered = logs.toSorted((a, b) => (a[0]?.ts ?? 0) - (b[0]?.ts ?? 0));
  const byWorker = new Map<string, (readonly FileChange[])[]>();
  for (const events of ordered) {
    const [first] = events;
    const prompt = first?.type === 'task.created' ? first.spec.prompt : '';
    const worker = prompt.split(' ')[0] ?? '';
    const ended = events.flatMap((event) =>
      event.type === 'call.ended' && event.tool === 'Bash' ? [event.facts.changed ?? []] : [],
    );
    byWorker.set(worker, [...(byWorker.get(worker) ?? []), ...ended]);
  }
  return byWorker;
}

/** Tells whether a shared change was undone while the command ran. Such a record is only of use for a rewind. */
function wasUndone({ before, after, mode, newMode, shared }: FileChange): boolean {
  return shared === true && before === after && (before === null || mode === newMode);
}

/** Describes a change of a receipt in one line. */
function describeRecorded({ path, before, after, mode, newMode }: FileChange): string {
  const modes = mode === undefined ? '' : newMode === undefined ? `${mode}` : `${mode} ${newMode}`;
  return `${path}: ${before} → ${after} ${modes}`;
}

/** Describes a change that the comparison has found in the same way. */
function describeFound({ path, before, after, oldMode, newMode }: ComparableChange): string {
  const isModeChange = before !== null && oldMode !== newMode;
  const modes = after === null ? `${oldMode}` : isModeChange ? `${oldMode} ${newMode}` : '';
  return `${path}: ${before} → ${after} ${modes}`;
}

describe.each([{ bare: false }, { bare: true }])(
  'random commands, without a sandbox: $bare',
  ({ bare }) => {
    it(
      'have receipts that equal an independent comparison, and can be undone',
      async () => {
        const script = new Script();
        await using world = await openWorld({
          bare,
          files: { 'edits/a.txt': 'a', 'first/a/one': 'one', 'second/b/two': 'two' },
          script: (request) => script.answer(request),
        });
        script.world = world;
        const { workspace } = world.sandbox;
        for (const worker of WORKERS) mkdirSync(join(workspace, worker), { recursive: true });
        const atStart = takeSnapshot(workspace);
        const run = await world.run([
          '-p',
          'work',
          '--permission-mode',
          'autonomous',
          '--output-format',
          'json',
        ]);
        expect(run.code, `seed ${script.seed}: ${run.stderr}`).toBe(0);
        const { data } = envelopeOf(run);
        const receipts = readReceipts(world);
        for (const worker of WORKERS) {
          const observed = script.observed.filter((each) => each.worker === worker);
          const found = receipts.get(worker) ?? [];
          expect(found).toHaveLength(ROUNDS * COMMANDS_IN_A_ROUND);
          expect(observed).toHaveLength(found.length);
          const own = `${join(workspace, worker)}/`;
          for (const [index, { changes }] of observed.entries()) {
            const inOwn = (found[index] ?? [])
              .filter(({ path }) => path.startsWith(own))
              .filter((change) => !wasUndone(change));
            expect(inOwn.map(describeRecorded), `seed ${script.seed}, ${worker} ${index}`).toEqual(
              changes.map(describeFound),
            );
            // Only what the other worker may have done at the same time stands beside it, and never what was edited.
            const others = (found[index] ?? []).filter(({ path }) => !path.startsWith(own));
            expect(others.filter(({ shared }) => shared !== true)).toEqual([]);
            expect(others.filter(({ path }) => path.startsWith(join(workspace, 'edits')))).toEqual(
              [],
            );
          }
        }
        const atEnd = takeSnapshot(workspace);
        const all = compareSnapshots(atStart, atEnd).map(({ path }) => path);
        expect(data.files_modified.filter((path) => all.includes(path)).toSorted()).toEqual(all);

        const rewind = ['tasks', 'rewind', data.task_id, '--to', '0', '--yes', '--json'];
        const undone = JSON.parse((await runMuster(world.sandbox, rewind)).stdout);
        expect(undone.refused).toEqual([]);
        const named = new Set(undone.left.map(({ path }: { readonly path: string }) => path));
        const remaining = compareSnapshots(atStart, takeSnapshot(workspace));
        expect(remaining.filter(({ path }) => !named.has(path))).toEqual([]);
      },
      TIMEOUT_MS,
    );
  },
);
