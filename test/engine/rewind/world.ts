import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { mapToolsByName } from '../../../src/replay/idle-deps.ts';
import { rerunTree } from '../../../src/replay/rerun-tree.ts';
import {
  planRewind,
  type RewindPlan,
  type RewindRequest,
} from '../../../src/engine/rewind/plan-rewind.ts';
import { rewind } from '../../../src/engine/rewind/rewind.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import { builtinTools } from '../../../src/tools/index.ts';
import { play, type Play } from '../play.ts';
import { SETTINGS, testEngine, WORKER, type TestEngine } from '../support.ts';
import type { PersonResumeOptions } from '../../../src/engine/engine-requests.ts';

const TOOLS = ['Read', 'Write', 'Edit', 'MultiEdit', 'MoveFile', 'DeleteFile', 'Bash', 'TodoWrite'];
const CHANGER = {
  ...WORKER,
  name: 'changer',
  tools: { mode: 'allow', names: [...TOOLS, 'Task'] },
} as const;

const WORLD_SETTINGS = { noProgressCalls: 1_000, maxTasks: 1_000 };

/** A workspace, and a data directory whose clock never shows the same time twice. */
export interface World {
  readonly root: string;
  readonly dataDir: string;
  readonly store: TaskStore;
  path(name: string): string;
  put(name: string, content: string, mode?: number): void;
  read(name: string): string | null;
}

export function newWorld(base: string): World {
  const root = join(base, 'work');
  const dataDir = join(base, 'data');
  fs.mkdirSync(root);
  let last = 0;
  const now = () => (last = Math.max(last + 1, systemClock.now()));
  const store = openFileStore({ dataDir, durability: 'fast', clock: { ...systemClock, now } });
  const path = (name: string) => join(root, name);
  return {
    root,
    dataDir,
    store,
    path,
    put(name, content, mode = 0o644) {
      fs.mkdirSync(dirname(path(name)), { recursive: true });
      fs.writeFileSync(path(name), content);
      fs.chmodSync(path(name), mode);
    },
    read: (name) => (fs.existsSync(path(name)) ? fs.readFileSync(path(name), 'utf8') : null),
  };
}

/** Creates an engine with the real tools and scripted models. */
function engineOver({ root, store }: World, parts: Play): TestEngine {
  const tools = builtinTools().filter(({ name }) => TOOLS.includes(name));
  return testEngine(play(parts), {
    store,
    tools,
    root,
    settings: WORLD_SETTINGS,
    agent: CHANGER,
    agents: [CHANGER],
  });
}

/** Runs the script to its end. Returns the id of the main task. */
export async function played(world: World, parts: Play, prompt = 'main'): Promise<string> {
  const run = engineOver(world, parts).start(prompt);
  await run.end.written;
  return run.spec.id;
}

/** Resumes a task, as a new process would. */
export async function resumed(
  world: World,
  id: string,
  parts: Play,
  request: Partial<PersonResumeOptions> = {},
): Promise<TestEngine> {
  const test = engineOver(world, parts);
  const order = { prompt: null, maxRights: (rights: ResumeRights) => rights, ...request };
  const run = await test.engine.resume(id, order);
  await run.end.written;
  return test;
}

type ResumeRights = Parameters<PersonResumeOptions['maxRights']>[0];

export async function rewound(
  store: TaskStore,
  id: string,
  wish: RewindRequest,
): Promise<RewindPlan> {
  const plan = await planRewind(store, id, wish);
  await rewind(store, plan);
  return plan;
}

export function eventsOf(store: TaskStore, id: string): readonly TaskEvent[] {
  const events: TaskEvent[] = [];
  store.scan(id, (event) => void events.push(event));
  return events;
}

export async function rerunDifferences({ store }: World, id: string): Promise<readonly unknown[]> {
  const settings = { ...SETTINGS, ...WORLD_SETTINGS };
  const tools = mapToolsByName({ store, settings }, builtinTools());
  const { tasks, lost } = await rerunTree({ store, settings, tools }, id);
  return [...tasks.flatMap(({ difference }) => difference ?? []), ...lost];
}

/** Returns the permission bits and the content of each file, by path. */
export function treeOf({ root }: Pick<World, 'root'>): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of fs.readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    const hash = createHash('sha256').update(fs.readFileSync(path)).digest('hex').slice(0, 12);
    files[relative(root, path)] = `${(fs.statSync(path).mode & 0o777).toString(8)} ${hash}`;
  }
  return files;
}
