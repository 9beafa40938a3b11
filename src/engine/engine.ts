import { findAgent } from '../agents/find.ts';
import { foldEvents, type TaskState } from '../protocol/state.ts';
import type { TaskEvent } from '../protocol/event.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { ResolvedModel } from '../protocol/model.ts';
import type { Rights } from '../protocol/permission.ts';
import type { ResultEnvelope } from '../protocol/result.ts';
import type { TaskSource } from '../protocol/task.ts';
import type { ToolContext, ToolOutput } from '../protocol/tool.ts';
import type { JsonObject } from '../base/json.ts';
import { createTask, type Workshop } from './create-task.ts';
import type { EngineDeps } from './deps.ts';
import { combineLimits } from './limits.ts';
import { runTask } from './loop.ts';
import { PrefixCache } from './prefix.ts';
import { describePrompt } from './prompt.ts';
import { parentText, resultEnvelope, wholeResult } from './result.ts';
import { RunningTasks } from './running-tasks.ts';
import { createDelegation } from './spawn.ts';
import type { StopOrder } from './stop.ts';
import type { TaskRun } from './task-run.ts';
import { taskOutputTool, type TaskOutputInput } from './task-tools/task-output.ts';
import { taskTool } from './task-tools/task.ts';
import { Tree } from './tree.ts';

/** A conversation to start: the root of a new tree. */
export interface RootRequest {
  readonly prompt: string;
  readonly agent: AgentDefinition;
  readonly model: ResolvedModel;
  readonly rights: Rights;
  readonly cwd: string;
  readonly source: TaskSource;
  readonly params: JsonObject;
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
    tools.push(
      taskOutputTool((input, context) => this.readOutput(input, context)),
      taskTool(createDelegation(this.workshop), (word) => this.typeName(word)),
    );
  }

  /** Makes the main agent's task and sets it to work; its `ended` says when it is done. */
  start(request: RootRequest): TaskRun {
    const { settings } = this.deps;
    const run = createTask(this.workshop, new Tree(settings), {
      ...request,
      limits: combineLimits({
        config: settings.rootLimits,
        definition: request.agent.limits,
        call: {},
      }),
      description: describePrompt(request.prompt),
      parent: null,
    });
    void runTask(this.deps, run);
    return run;
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

  private readState(id: string): TaskState {
    const events: TaskEvent[] = [];
    this.deps.store.scan(id, (event) => events.push(event));
    return foldEvents(events);
  }

  private readOutput(input: TaskOutputInput, context: ToolContext): ToolOutput {
    const tree = this.running.get(context.taskId)?.tree;
    const ids = tree?.descendants(context.taskId, input.taskId) ?? [];
    const [id] = ids;
    if (id === undefined) {
      return {
        text: `TaskOutput: task_id: no task of yours begins with ${input.taskId}`,
        error: 'NOT_FOUND',
      };
    }
    if (ids.length > 1) {
      return {
        text: `TaskOutput: task_id: ${input.taskId} is the beginning of ${ids.slice(0, 5).join(', ')}`,
        error: 'INVALID_PARAM',
      };
    }
    const state = this.running.get(id)?.state ?? this.readState(id);
    const { length } = wholeResult(state);
    if (input.offset > length) {
      return {
        text: `TaskOutput: offset: ${input.offset} is beyond the end; the answer has ${length} characters`,
        error: 'INVALID_PARAM',
      };
    }
    return { text: parentText(state, input.offset) };
  }
}
