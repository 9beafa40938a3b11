import * as fs from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldLog } from '../../../src/engine/task/fold-log.ts';
import type { ScriptedAnswer, ScriptedCall } from '../../scripted-model.ts';
import { randomRuns } from '../random-runs.ts';
import { call, calls, type Play, type Turn } from '../play.ts';
import { tempDirectory } from '../../sys/temp.ts';
import {
  eventsOf,
  newWorld,
  played,
  rerunDifferences,
  rewound,
  treeOf,
  type World,
} from './world.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';
import type { TaskState } from '../../../src/protocol/state/task-state.ts';

const RUNS = randomRuns(40);
const NAMES = ['a.txt', 'run.sh', 'd/b.txt', 'd/e/c.txt', 'new/f.txt', 'g/b.txt'];

const name = fc.constantFrom(...NAMES);
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('Write' as const), to: name }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('Edit' as const), to: name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('DeleteFile' as const), to: name }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('MoveFile' as const), from: name, to: name }),
  },
  fc.record({ kind: fc.constant('DeleteFile' as const), to: fc.constant('d') }),
  fc.record({
    kind: fc.constant('MoveFile' as const),
    from: fc.constant('d'),
    to: fc.constant('g'),
  }),
);
type Change = (typeof change extends fc.Arbitrary<infer T> ? T : never) & {
  readonly from?: string;
};
type Work = readonly (
  | Change
  | { readonly kind: 'Task'; readonly work: Work; readonly waits: boolean }
)[];

const { work } = fc.letrec<{ work: Work }>((tie) => ({
  work: fc.array(
    fc.oneof(
      { maxDepth: 3 },
      { weight: 5, arbitrary: change },
      fc.record({ kind: fc.constant('Task' as const), work: tie('work'), waits: fc.boolean() }),
    ),
    { minLength: 1, maxLength: 5 },
  ),
}));

const plan = fc.record({
  work,
  first: fc.subarray(NAMES, { minLength: 2 }),
  steps: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
});

interface Snapshot {
  /** The number of the newest event of the main task. */
  readonly seq: number;
  readonly files: Readonly<Record<string, string>>;
}

/** Runs the work. Takes a snapshot at each request of the main agent until something runs beside it. */
async function playWork(world: World, whole: Work) {
  const snapshots: Snapshot[] = [];
  const parts: Record<string, Play[string]> = {};
  let id = '';
  let content = 0;
  let tasks = 0;
  let isAlone = true;
  const look = ({ request }: Turn) => {
    id ||= world.store.list().find(({ parent }) => parent === null)?.id ?? '';
    const seq =
      (eventsOf(world.store, id).findLast(({ type }) => type === 'turn.started')?.seq ?? 1) - 1;
    if (isAlone) snapshots.push({ seq, files: treeOf(world) });
    return request;
  };
  const addPart = (part: string, own: Work): void => {
    parts[part] = own.flatMap((step) => {
      const lines =
        step.kind === 'Task' ? [() => delegate(step)] : [() => seen(step), () => done(step)];
      return lines.map((line) => (turn: Turn): ScriptedAnswer => {
        if (part === 'main') look(turn);
        return calls(...line());
      });
    });
  };
  const delegate = ({ work: own, waits }: Extract<Work[number], { kind: 'Task' }>) => {
    tasks += 1;
    const part = `task${tasks}`;
    addPart(part, own);
    if (!waits) isAlone = false;
    return [
      call('Task', {
        prompt: part,
        description: part,
        subagent_type: 'changer',
        run_in_background: !waits,
      }),
    ];
  };
  const seen = ({ from, to }: Change): readonly ScriptedCall[] =>
    [from, to].flatMap((each) => (each === undefined ? [] : [read(each)]));
  const read = (each: string) =>
    call('Read', { file_path: world.path(each), limit: (content += 1) + 1000 });
  const done = ({ kind, from = '', to }: Change): readonly ScriptedCall[] => {
    const file_path = world.path(to);
    content += 1;
    switch (kind) {
      case 'Write':
        return [call(kind, { file_path, content: `written ${content}\n` })];
      case 'Edit':
        return [
          call(kind, { file_path, old_string: 'n', new_string: `n${content}n`, replace_all: true }),
        ];
      case 'DeleteFile':
        return [call(kind, { file_path, recursive: true })];
      case 'MoveFile':
        return [
          call(kind, {
            source: world.path(from),
            destination: file_path,
            overwrite: true,
            recursive: true,
          }),
        ];
      default:
        return kind satisfies never;
    }
  };
  addPart('main', whole);
  const main = await played(world, parts);
  return { id: main, snapshots };
}

/** Returns the part of a state that belongs to the conversation. */
function talkOf({
  conversation,
  todos,
  knownFiles,
  turns,
  children,
  filesChanged,
  end,
}: TaskState) {
  return {
    conversation,
    todos,
    knownFiles,
    turns,
    children: [...children.keys()],
    filesChanged,
    end,
  };
}

describe('a rewind of any tree of tasks', () => {
  it('restores files and conversation, and back again', RUNS.test, async () => {
    const base = tempDirectory();
    let count = 0;
    await fc.assert(
      fc.asyncProperty(plan, async ({ work: whole, first, steps }) => {
        const home = join(base, String((count += 1)));
        fs.mkdirSync(home);
        const world = newWorld(home);
        first.forEach((each, index) =>
          world.put(each, `begin ${index}\n`, index % 2 === 0 ? 0o644 : 0o755),
        );
        const { id, snapshots } = await playWork(world, whole);
        const { store } = world;
        const talkNow = () => talkOf(foldLog(store, id));
        const spent = foldLog(store, id).ledger;
        const were = [{ files: treeOf(world), talk: talkNow() }];
        let upTo = snapshots.length;
        for (const step of steps) {
          if (upTo === 0) break;
          upTo = step % upTo;
          const snapshot = snapshots[upTo];
          if (snapshot === undefined) break;
          const { refused, to } = await rewound(store, id, { to: snapshot.seq });
          expect(refused).toEqual([]);
          expect(treeOf(world)).toEqual(snapshot.files);
          const prefix = eventsOf(store, id).filter(({ seq }) => seq <= to);
          expect(talkNow()).toEqual(talkOf(foldEvents(prefix)));
          expect(foldEvents(eventsOf(store, id))).toEqual(foldLog(store, id));
          expect(foldLog(store, id).ledger).toEqual(spent);
          were.push({ files: treeOf(world), talk: talkNow() });
        }
        were.pop();
        for (const was of were.toReversed()) {
          await rewound(store, id, 'undo');
          expect({ files: treeOf(world), talk: talkNow() }).toEqual(was);
        }
        expect(await rerunDifferences(world, id)).toEqual([]);
        await store.close();
        fs.rmSync(home, { recursive: true });
      }),
      RUNS.runs,
    );
  });
});
