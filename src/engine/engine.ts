import { findAgent } from '../agents/find.ts';
import { newId } from '../base/ids.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { ResolvedModel } from '../protocol/model.ts';
import type { Rights } from '../protocol/permission.ts';
import type { ResultEnvelope } from '../protocol/result.ts';
import type { TaskSource } from '../protocol/task.ts';
import type { JsonObject } from '../base/json.ts';
import { createTask } from './create-task.ts';
import { createDelegation } from './delegation.ts';
import type { EngineDeps } from './deps.ts';
import { combineLimits } from './limits.ts';
import { runTask } from './loop.ts';
import { openTasks } from './open-task.ts';
import { PrefixCache } from './prefix.ts';
import { describePrompt } from './prompt.ts';
import { resultEnvelope } from './result.ts';
import { recordCeiling, recordResume, setToWork } from './resume.ts';
import { RunningTasks } from './running-tasks.ts';
import type { StopOrder } from './stop.ts';
import type { TaskRun } from './task-run.ts';
import { taskTools } from './task-tools/index.ts';
import { Tree } from './tree.ts';
import type { Workshop } from './workshop.ts';

/** A conversation to start: the root of a new tree. */
export interface RootRequest {
  /** Default: a new one. */
  readonly id?: string;
  readonly prompt: string;
  readonly agent: AgentDefinition;
  readonly model: ResolvedModel;
  readonly rights: Rights;
  readonly cwd: string;
  readonly source: TaskSource;
  readonly params: JsonObject;
}

/** How a person makes a task go on. */
export interface ResumeRequest {
  /** The next message; null: none. */
  readonly prompt: string | null;
  /** Its rights are those recorded, cut by what this gives for them. */
  readonly ceiling: (recorded: Rights) => Rights;
  /** Absent: as recorded. */
  readonly model?: ResolvedModel;
  readonly maxTurns?: number;
}

/** Runs the tasks of this process. One engine serves any number of trees. */
export class Engine {
  private readonly deps: EngineDeps;
  private readonly workshop: Workshop;
  private readonly running = new RunningTasks();

  constructor(deps: EngineDeps) {
    const tools = [...deps.tools];
    this.deps = { ...deps, tools };
    this.workshop = {
      deps: this.deps,
      prefixes: new PrefixCache(deps.store),
      running: this.running,
    };
    const delegate = createDelegation(this.workshop);
    tools.push(...taskTools(this.workshop, { delegate, typeName: (word) => this.typeName(word) }));
  }

  /** Makes the main agent's task and sets it to work; its `ended` says when it is done. */
  start(request: RootRequest): TaskRun {
    const { settings } = this.deps;
    const id = request.id ?? newId();
    const run = createTask(this.workshop, new Tree(id, settings), {
      ...request,
      id,
      limits: combineLimits({
        config: settings.rootLimits,
        definition: request.agent.limits,
        call: {},
      }),
      description: describePrompt(request.prompt),
      handed: [],
      background: false,
      parent: null,
    });
    void runTask(this.deps, run);
    return run;
  }

  /**
   * Makes a task that nobody owns go on, from its log alone, with all below it that had not ended. It
   * has begun to work when this resolves. Throws MusterError: `NOT_FOUND`, `CONFLICT` while a process
   * owns it.
   */
  async resume(id: string, request: ResumeRequest): Promise<TaskRun> {
    const opened = openTasks(this.workshop, id, { tree: null, parent: null });
    const [top, ...below] = opened;
    const { prompt, ...terms } = request;
    recordResume(this.deps, top, {
      ...terms,
      by: 'user',
      callId: null,
      message: prompt === null ? null : userMessage(prompt),
      ceiling: request.ceiling(top.spec.rights),
    });
    for (const run of below) recordCeiling(run, run.parent?.spec.rights ?? top.spec.rights);
    await setToWork(this.deps, opened);
    return top;
  }

  /** A task at work in this process, by its whole id. */
  task(id: string): TaskRun | undefined {
    return this.running.get(id);
  }

  result(run: TaskRun): ResultEnvelope {
    const { store } = this.deps;
    return resultEnvelope(run.outcome(), {
      transcript: store.log(run.spec.id),
      outputFile: store.outputFile(run.spec.id),
    });
  }

  /** Stops every tree; resolves when all of their tasks have ended. */
  async stop(order: StopOrder): Promise<void> {
    const runs = this.running.all();
    for (const run of runs) run.stop(order);
    await Promise.all(runs.map((run) => run.ended));
  }

  /** An unknown word stays as it is; the call then fails by itself. */
  private typeName(word: string): string {
    const found = findAgent(word, this.deps.agents.agents());
    return found.ok ? found.agent.name : word;
  }
}

/** What a person says to a task, in its next request. */
function userMessage(text: string) {
  return { id: newId(), kind: 'message', from: 'user', text } as const;
}
