import { isDeepStrictEqual } from 'node:util';
import { MusterError } from '../../src/base/errors.ts';
import { Engine } from '../../src/engine/engine.ts';
import { Inbox } from '../../src/engine/task/inbox.ts';
import { findTimeLimit } from '../../src/engine/task/wall-time.ts';
import { steadyTime } from '../../src/protocol/state/steady-time.ts';
import { MAIN_AGENT } from '../../src/engine/task/main-agent.ts';
import { stopOrder } from '../../src/engine/task/stop-order.ts';
import type { TaskRun } from '../../src/engine/task/task-run.ts';
import { createScriptedModel } from '../scripted-model.ts';
import { runningShells, hasBackgroundWork } from '../../src/protocol/state/owned-work.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { ModelPart, ModelPort, ModelRequest } from '../../src/protocol/model.ts';
import type { AnyTool, ShellExit, ToolContext, ToolOutput } from '../../src/protocol/tool.ts';
import { openMemoryStore } from '../../src/store/memory-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { KillableStore, type BatchCount, type Death } from './killable-store.ts';
import {
  answerOf,
  pathOfPrompt,
  pathOfTask,
  promptOfWork,
  worksByPath,
  type Work,
} from './random-work.ts';
import { MODEL, rootRights, SETTINGS, WORKER } from './support.ts';
import { VirtualDeadlines, VirtualTime } from './virtual-time.ts';
import { PERMISSION_MODES } from '../../src/protocol/permission.ts';
import { createUnavailableSandbox } from '../../src/sys/sandbox/sandbox.ts';
import type { EngineSettings } from '../../src/engine/limits/configured-limits.ts';
import { applyEvent, foldEvents } from '../../src/protocol/state/fold.ts';
import type { TaskState } from '../../src/protocol/state/task-state.ts';

/** An action of a person while tasks are at work. `of` selects one of the tasks so far. */
export interface PersonAct {
  readonly at: number;
  readonly kind: 'stop' | 'interrupt' | 'mode' | 'send' | 'withdraw' | 'detach' | 'resume';
  readonly of: number;
}

export interface Plan {
  readonly work: Work;
  /** The seed of all durations. */
  readonly seed: number;
  readonly settings: Partial<EngineSettings>;
  readonly acts: readonly PersonAct[];
}

export interface SeenRequest {
  readonly life: number;
  /** The path of the work of its task. */
  readonly path: string;
  readonly request: ModelRequest;
  accepted: boolean;
}

/** The data that outlive a process: its logs, and the observations of the test. */
export interface World {
  readonly plan: Plan;
  readonly works: ReadonlyMap<string, Work>;
  readonly random: () => number;
  readonly store: TaskStore;
  /** The ids of all tasks, in the order of their creation. */
  readonly ids: string[];
  readonly requests: SeenRequest[];
  /** The number of runs of each opaque call. */
  readonly runs: Map<string, number>;
  /** Called with each event of a process, as its listener is. Default: nobody listens. */
  onEvent?: (event: TaskEvent) => void;
  /** The observed errors. */
  readonly wrongs: string[];
  lives: number;
  /** The numbers of batches of events that the last process wrote. */
  batches: BatchCount;
  /** The requests that were open at the last death, by the path of the work. */
  readonly openTurns: Map<string, OpenTurn>;
}

type OpenTurn = Pick<ModelRequest, 'messages' | 'toolChoice'>;

export function newWorld(plan: Plan): World {
  return {
    plan,
    works: worksByPath(plan.work),
    random: randomOf(plan.seed),
    store: openMemoryStore(),
    ids: [],
    requests: [],
    runs: new Map(),
    wrongs: [],
    lives: 0,
    batches: { all: 0, several: 0 },
    openTurns: new Map(),
  };
}

const SCARCE_BYTES = 1;

/** Mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function stateOf(store: TaskStore, id: string): TaskState {
  return foldEvents(eventsOf(store, id));
}

export function eventsOf(store: TaskStore, id: string): readonly TaskEvent[] {
  const events: TaskEvent[] = [];
  store.scan(id, (event) => void events.push(event));
  return events;
}

/**
 * Runs one process: starts the tree or resumes it from its logs, and runs until the tree has ended or the process has
 * died. Returns false if it died.
 */
export async function live(world: World, death: Death | null): Promise<boolean> {
  world.lives += 1;
  noteOpenTurns(world);
  const life = new Life(world, death);
  let run: TaskRun;
  try {
    run = await life.begin();
  } catch (thrown) {
    if (life.isOver) return false;
    throw thrown;
  }
  let hasEnded = false;
  void run.end.written.then(() => (hasEnded = true));
  if (life.number === 1) life.schedulePerson();
  await life.time.pass(() => hasEnded || life.isOver);
  if (life.isOver) return false;
  world.batches = life.batches;
  life.checkLeft(run);
  return true;
}

/** Returns true for a main agent that had used up the time of the tree at the newest event of its log. */
function isOutOfTime(state: TaskState, { settings }: Plan): boolean {
  if (findTimeLimit(state) !== null) return true;
  const { spec, activation, lifetime } = state;
  const { treeWallMs = null } = settings;
  if (spec.parent !== null || treeWallMs === null) return false;
  const newest = steadyTime(lifetime.newest);
  const sinceStart = newest - (activation.workingSince ?? newest);
  return activation.workedMs + sinceStart >= treeWallMs;
}

function noteOpenTurns({ store, openTurns, plan }: World): void {
  openTurns.clear();
  for (const { id } of store.list()) {
    const state = stateOf(store, id);
    const { spec, openTurn, conversation, interrupted } = state;
    // An interrupted request is closed and never sent again.
    if (openTurn === null || interrupted !== null) continue;
    const { toolChoice } = openTurn;
    if (toolChoice === 'auto' && isOutOfTime(state, plan)) continue;
    openTurns.set(pathOfPrompt(spec.prompt), { messages: conversation.messages, toolChoice });
  }
}

class Life {
  readonly engine: Engine;
  readonly time = new VirtualTime();
  readonly number: number;
  private readonly world: World;
  private readonly store: KillableStore;
  private readonly deadlines = new VirtualDeadlines(this.time);
  private readonly folds = new Map<string, TaskState>();
  /** The tasks that were stopped and not resumed since. */
  private readonly stopped = new Set<string>();
  private readonly busy = new Map<string, number>();
  private readonly maxParallel: number;

  constructor(world: World, death: Death | null) {
    this.world = world;
    this.number = world.lives;
    this.store = new KillableStore(world.store, death, () => this.pause(2));
    const settings = { ...SETTINGS, ...world.plan.settings };
    this.maxParallel = settings.maxParallel;
    this.engine = new Engine({
      store: this.store.store,
      model: this.model(),
      models: {
        forTask: () => MODEL,
        details: async () => ({ contextWindow: null, maxOutput: 10, price: null }),
        outputLimit: () => 10,
      },
      tools: [this.tool('Bash'), this.tool('Read')],
      agents: { refresh: async () => {}, agents: () => [WORKER] },
      skills: { refresh: async () => {}, skills: () => [] },
      clock: this.time,
      deadlines: this.deadlines,
      // Memory is scarce from time to time, so that new tasks wait for it.
      availableMemory: () => (world.random() < 0.3 ? SCARCE_BYTES : 0),
      settings,
      platform: 'linux',
      home: '/home/me',
      stateDirectories: [],
      sandboxed: () => Promise.resolve(true),
      sandbox: createUnavailableSandbox('a test', 'none is needed'),
      inbox: new Inbox({ onAsk: 'deny', standing: null }),
      onEvent: (event, { state }) => this.seeEvent(event, state),
      onSignal: () => {},
      onFault: (task, thrown) => {
        if (!this.isOver) this.wrong(`fault of ${task}: ${String(thrown)}`);
      },
    });
  }

  get isOver(): boolean {
    return this.store.isDead;
  }

  get batches(): BatchCount {
    return this.store.batches;
  }

  async begin(): Promise<TaskRun> {
    const [rootId] = this.world.ids;
    if (rootId !== undefined) {
      return this.engine.resume(rootId, { prompt: null, maxRights: (rights) => rights });
    }
    return this.engine.start({
      prompt: promptOfWork('r'),
      rights: rootRights(SETTINGS.maxDepth),
      cwd: '/',
      params: {},
      agent: MAIN_AGENT,
      model: MODEL,
      source: 'sdk',
    });
  }

  schedulePerson(): void {
    for (const act of this.world.plan.acts) {
      this.time.after(act.at, () => {
        if (!this.isOver) this.personActs(act);
      });
    }
  }

  /** Checks that no deadline, task or slot is left after the end, and that each log folds to the live state. */
  checkLeft(root: TaskRun): void {
    if (this.deadlines.size > 0) this.wrong(`${this.deadlines.size} deadlines are left`);
    for (const id of this.world.ids) {
      if (this.engine.task(id) !== undefined) this.wrong(`task ${id} still counts as at work`);
    }
    const { signal } = new AbortController();
    for (let free = 0; free < this.maxParallel; free += 1) {
      if (root.tree.slots.isFull) this.wrong(`only ${free} of ${this.maxParallel} slots are free`);
      void root.tree.slots.acquire(signal, { isResuming: false });
    }
    for (const [id, live] of this.folds) {
      const fold = foldEvents(overJson(eventsOf(this.world.store, id)));
      if (!isDeepStrictEqual(fold, live)) this.wrong(`the log of ${id} folds to something else`);
    }
  }

  private wrong(what: string): void {
    this.world.wrongs.push(`life ${this.number}: ${what}`);
  }

  /** Waits for a random time. Never returns after the death of the process. */
  private async pause(most: number, signal?: AbortSignal): Promise<void> {
    if (this.isOver) await new Promise(() => {});
    const { random } = this.world;
    // The duration is often zero, because simultaneous events come in a different order.
    const ms = random() < 0.4 ? 0 : random() * most;
    if (ms > 0) await this.time.sleep(ms, signal);
    if (this.isOver) await new Promise(() => {});
  }

  private seeEvent(event: TaskEvent, state: TaskState): void {
    const { task } = event;
    this.world.onEvent?.(event);
    if (!this.world.ids.includes(task)) this.world.ids.push(task);
    if (event.type === 'task.resumed') this.stopped.delete(task);
    const known = this.folds.get(task);
    const [again] = overJson([event]);
    if (known === undefined) {
      const before = eventsOf(this.world.store, task).filter(({ seq }) => seq <= event.seq);
      this.folds.set(task, foldEvents(overJson(before)));
    } else if (again !== undefined) applyEvent(known, again);
    if (event.seq === state.lastSeq && !isDeepStrictEqual(this.folds.get(task), state)) {
      this.wrong(`at event ${event.seq} (${event.type}) of ${task} the fold is not the live state`);
    }
    if (event.type !== 'task.ended') return;
    const open = [...state.openChildren, ...runningShells(state)];
    if (open.length > 0) this.wrong(`task ${task} ended before ${open.join()}`);
  }

  private working(task: string, change: 1 | -1): void {
    if (change === 1 && this.stopped.has(task)) this.wrong(`${task} works on after its stop`);
    this.busy.set(task, (this.busy.get(task) ?? 0) + change);
    const atWork = [...this.busy.values()].filter((count) => count > 0).length;
    if (atWork > this.maxParallel) this.wrong(`${atWork} tasks at work at the same time`);
  }

  private model(): ModelPort {
    const { world } = this;
    const answers = createScriptedModel((request) => {
      const path = pathOfTask(request);
      const same = world.requests.filter(
        (seen) => seen.path === path && seen.request.messages.length === request.messages.length,
      );
      return answerOf(world.works, request, same.length - 1);
    });
    const stream = (request: ModelRequest, signal: AbortSignal) =>
      this.stream(request, signal, answers);
    return { stream };
  }

  private async *stream(
    request: ModelRequest,
    signal: AbortSignal,
    answers: ModelPort,
  ): AsyncGenerator<ModelPart> {
    if (this.isOver) await new Promise(() => {});
    const path = pathOfTask(request);
    const task = this.taskOfPath(path);
    const seen: SeenRequest = { life: this.number, path, request, accepted: false };
    this.world.requests.push(seen);
    this.checkRepeat(path, request);
    this.working(task, 1);
    try {
      for await (const part of answers.stream(request, signal)) {
        await this.pause(6, signal);
        if (part.type === 'accepted') seen.accepted = true;
        yield part;
      }
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
      const failure = { kind: 'cancelled', message: 'stopped', retryable: false } as const;
      yield { type: 'failed', failure };
    } finally {
      this.working(task, -1);
    }
  }

  private checkRepeat(path: string, { messages, toolChoice }: ModelRequest): void {
    const before = this.world.openTurns.get(path);
    this.world.openTurns.delete(path);
    if (before === undefined || isDeepStrictEqual(before, { messages, toolChoice })) return;
    this.wrong(`the request of ${path} that was under way is not sent again as it was`);
  }

  private taskOfPath(path: string): string {
    const prompt = promptOfWork(path);
    for (const [id, { spec }] of this.folds) if (spec.prompt === prompt) return id;
    throw new Error(`no task of work ${path}`);
  }

  private tool(name: 'Bash' | 'Read'): AnyTool {
    return {
      ...toolShape(name),
      run: async (input: ToolInput, context: ToolContext) => {
        if (this.isOver) await new Promise(() => {});
        if (name === 'Bash') this.countRun(input.key);
        return input.background === true
          ? this.startShell(input, context)
          : this.work(input, context);
      },
    };
  }

  private countRun(key: string): void {
    const { runs } = this.world;
    runs.set(key, (runs.get(key) ?? 0) + 1);
  }

  private async work({ key, ms }: ToolInput, { taskId, signal }: ToolContext): Promise<ToolOutput> {
    this.working(taskId, 1);
    try {
      await this.pause(ms, signal);
      return { text: `ran(${key})` };
    } catch {
      return { text: 'stopped', error: 'CANCELLED' };
    } finally {
      this.working(taskId, -1);
    }
  }

  private async startShell({ key, ms }: ToolInput, { shells }: ToolContext): Promise<ToolOutput> {
    const { id } = await shells.start({
      command: key,
      begin: async (_, signal) => ({ ended: this.shell(ms * 3, signal) }),
    });
    return { text: `shell ${id}` };
  }

  private async shell(ms: number, signal: AbortSignal): Promise<ShellExit> {
    try {
      await this.pause(ms, signal);
      return { how: 'exited', exitCode: 0 };
    } catch {
      return { how: 'stopped', exitCode: null };
    }
  }

  private personActs(act: PersonAct): void {
    try {
      this.act(act);
    } catch (thrown) {
      if (!this.isOver) throw thrown;
    }
  }

  private act({ kind, of }: PersonAct): void {
    const { ids } = this.world;
    const id = ids[of % ids.length];
    if (id === undefined) return;
    const run = this.engine.task(id);
    // Each action may come too late; the person then gets an error.
    switch (kind) {
      case 'stop':
        if (run === undefined) return;
        this.noteStop(run);
        run.stop(stopOrder('user', 'enough'));
        return;
      case 'interrupt': {
        const root = this.engine.task(ids[0] ?? '');
        if (root === undefined) return;
        if (!hasBackgroundWork(root.state)) this.noteStop(root);
        for (const child of root.state.openChildren) {
          const waitedFor = this.engine.task(child);
          if (waitedFor?.isBackground === false) this.noteStop(waitedFor);
        }
        this.engine.interrupt(root.spec.id);
        return;
      }
      case 'mode':
        if (run === undefined || run.parent !== null || run.isEnding) return;
        this.engine.setMode(id, PERMISSION_MODES[of % PERMISSION_MODES.length] ?? 'plan');
        return;
      case 'send':
        if (run?.isEnding === false) this.engine.send(id, 'say(something)');
        return;
      case 'withdraw':
        if (run !== undefined) this.withdraw(run);
        return;
      case 'detach':
        if (run !== undefined && run.parent !== null) this.engine.detach(id);
        return;
      case 'resume':
        void this.resumeBelow(id);
        return;
      default:
        kind satisfies never;
    }
  }

  /** Takes back the messages of a task and checks that the library names those that no request will contain. */
  private withdraw(run: TaskRun): void {
    const { id } = run.spec;
    const named = this.engine.withdraw(id).map((input) => input.id);
    const { queued, inputIds } = run.state.conversation;
    const left = queued.filter(({ kind, from }) => kind === 'message' && from === 'user');
    const unknown = named.filter((input) => !inputIds.has(input));
    if (left.length > 0 || unknown.length > 0) {
      this.wrong(`after ${id} gave back ${named.join()}, ${left.length} messages are left`);
    }
  }

  private async resumeBelow(id: string): Promise<void> {
    try {
      await this.engine.resumeBelow(id, {});
    } catch (thrown) {
      // The task is at work, or no task above it is: the person then gets an error.
      if (!(thrown instanceof MusterError || this.isOver))
        this.wrong(`resuming ${id}: ${String(thrown)}`);
    }
  }

  private noteStop({ spec, state }: TaskRun): void {
    this.stopped.add(spec.id);
    for (const child of state.openChildren) {
      const run = this.engine.task(child);
      if (run !== undefined) this.noteStop(run);
    }
  }
}

interface ToolInput {
  readonly key: string;
  readonly ms: number;
  readonly background?: boolean;
}

function overJson(events: readonly TaskEvent[]): TaskEvent[] {
  return JSON.parse(JSON.stringify(events));
}

/** Returns the tools of a world for their descriptions. They are never run. */
export function worldTools(): readonly AnyTool[] {
  const run = () => Promise.reject(new Error('it is not run'));
  return [
    { ...toolShape('Bash'), run },
    { ...toolShape('Read'), run },
  ];
}

function toolShape(name: 'Bash' | 'Read'): Omit<AnyTool, 'run'> {
  return {
    name,
    kind: name === 'Bash' ? 'execute' : 'read',
    replay: name === 'Bash' ? 'opaque' : 'pure',
    description: name,
    inputSchema: { type: 'object' },
    parse: (input) => ({ ok: true, input }),
    describe: () => ({ reads: [], writes: [], commands: [], hosts: [] }),
  };
}
