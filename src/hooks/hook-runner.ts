import { onAbort } from '../base/async.ts';
import { dropMissing } from '../base/drop-missing.ts';
import type { Clock } from '../base/clock.ts';
import { errorMessage } from '../base/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type {
  DefinitionHooks,
  HookOccasion,
  HookOutcome,
  HookPort,
  HookTask,
  LateHookOutcome,
} from '../protocol/hook.ts';
import { coversOccasion, findDueHooks, matchConditions, type DueHook } from './due-hooks.ts';
import { describeAction, type HookDefinition } from './hook-definition.ts';
import { buildHookInput } from './hook-input.ts';
import type { HookRun } from './merge-outcomes.ts';
import type { HookEnd } from './read-hook-output.ts';
import { readHooks, type ConditionReader } from './read-hooks.ts';
import type { CommandHookSettings } from './run-command-hook.ts';
import type { HttpHookSettings } from './run-http-hook.ts';

/** The hooks of a process, and what they need to run. */
export interface HookRunnerOptions extends CommandHookSettings, HttpHookSettings {
  /** In the order in which their results count. The list is copied, so that a later change has no effect. */
  readonly hooks: readonly HookDefinition[];
  readonly clock: Clock;
  /** Reads the conditions in the hooks of agents and skills. */
  readonly readCondition: ConditionReader;
  /** Reports a failure of a hook that nobody has waited for, if its task can record it no more. */
  readonly onLostFailure: (line: string) => void;
}

/** A hook port that can be closed. */
export interface HookRunner extends HookPort {
  /** Runs the hooks of the end of conversations, and ends the hooks that nobody waits for. Call it before the process ends. */
  close(): Promise<void>;
}

/** The time in milliseconds for all hooks at the end of conversations, when the process has to end soon. */
const SESSION_END_MS = 1_500;

const NO_OUTCOME: HookOutcome = { context: [], records: [] };

/** Creates the port that runs hooks. Without a hook for an occasion, it neither loads nor runs anything. */
export function createHookRunner(options: HookRunnerOptions): HookRunner {
  return new ParallelRunner(options);
}

class ParallelRunner implements HookRunner {
  readonly #options: HookRunnerOptions;
  readonly #hooks: readonly HookDefinition[];
  /** The hooks of agents and skills, by their objects in the definitions. */
  readonly #ofDefinitions = new WeakMap<JsonObject, readonly HookDefinition[]>();
  /** The hooks that have run and run only once, by conversation. */
  readonly #finished = new Map<string, Set<HookDefinition>>();
  /** The runs that nobody waits for. */
  readonly #background = new Set<Promise<unknown>>();
  /** The outcomes of these hooks, by task. */
  readonly #late = new Map<string, readonly LateHookOutcome[]>();
  /** The conversations that have gone on in this process, by id, with their newest state. */
  readonly #sessions = new Map<string, HookTask>();
  readonly #closed = new AbortController();

  constructor(options: HookRunnerOptions) {
    this.#options = options;
    this.#hooks = [...options.hooks];
  }

  has(event: HookOccasion['event'], definitions: readonly DefinitionHooks[]): boolean {
    return definitions.length > 0 || this.#hooks.some((hook) => hook.event === event);
  }

  async run(occasion: HookOccasion, signal: AbortSignal): Promise<HookOutcome> {
    const due = await this.#takeDueHooks(occasion);
    if (due.length === 0) return NO_OUTCOME;
    const input = `${JSON.stringify(buildHookInput(occasion))}\n`;
    for (const { hook } of due.filter(({ hook }) => hook.isAsync)) {
      const work = this.#runLate(hook, { occasion, input, signal: this.#closed.signal });
      this.#background.add(work);
      void work.finally(() => this.#background.delete(work));
    }
    const { mergeOutcomes } = await import('./merge-outcomes.ts');
    const awaited = due.filter(({ hook }) => !hook.isAsync);
    return mergeOutcomes(
      await Promise.all(awaited.map((each) => this.#runOne(each, { occasion, input, signal }))),
    );
  }

  beginSession(root: HookTask): boolean {
    const isNew = !this.#sessions.has(root.id);
    this.#sessions.set(root.id, root);
    return isNew;
  }

  async close(): Promise<void> {
    const signal = AbortSignal.timeout(SESSION_END_MS);
    const fields = { reason: 'other' };
    await Promise.all(
      Array.from(this.#sessions.values(), (task) =>
        this.run({ event: 'SessionEnd', task, matched: 'other', fields }, signal),
      ),
    );
    const work = Promise.all(this.#background);
    await Promise.race([work, untilAborted(signal)]);
    this.#closed.abort();
    await work;
    if (this.#late.size === 0) return;
    const { describeLostFailures } = await import('./late-hooks.ts');
    describeLostFailures([...this.#late.values()].flat()).forEach(this.#options.onLostFailure);
  }

  takeLate(task: string): readonly LateHookOutcome[] {
    const late = this.#late.get(task) ?? [];
    this.#late.delete(task);
    return late;
  }

  /** Runs a hook that nobody waits for, and keeps what it says for the next request of its task. Never rejects. */
  async #runLate(hook: HookDefinition, run: RunInput): Promise<void> {
    const { clock } = this.#options;
    const { event, task, wake } = run.occasion;
    const startedAt = clock.monotonic();
    const end = await this.#start(hook, run);
    const { readLateOutput } = await import('./late-hooks.ts');
    const late = readLateOutput(hook, end, Math.round(clock.monotonic() - startedAt));
    if (late === null) return;
    this.#late.set(task.id, [...(this.#late.get(task.id) ?? []), { event, outcome: late.outcome }]);
    if (late.wakes) wake?.();
  }

  /** Finds the hooks for an occasion, and remembers those that run only once. */
  async #takeDueHooks(occasion: HookOccasion): Promise<readonly DueHook[]> {
    const { rootId } = occasion.task;
    const known = [...this.#hooks, ...this.#readDefinitions(occasion.definitions ?? [])];
    // A subagent that answers a hook must not start itself again.
    const isVerifier = occasion.task.isVerifier === true;
    const all = known.filter(
      (hook) => (!isVerifier || hook.action.kind !== 'agent') && !isExcluded(hook, occasion),
    );
    const conditions = await matchConditions(all, occasion);
    // Nothing is awaited from here on, so that a hook that runs once is taken by one occasion.
    const finished = this.#finished.get(rootId) ?? new Set();
    const due = all.filter((hook) => !finished.has(hook));
    const once = due.filter((hook) => hook.isOnce && coversOccasion(hook, occasion, conditions));
    if (once.length > 0) this.#finished.set(rootId, new Set([...finished, ...once]));
    return findDueHooks(due, occasion, conditions);
  }

  #readDefinitions(definitions: readonly DefinitionHooks[]): readonly HookDefinition[] {
    return definitions.flatMap(({ hooks, source }) => {
      const known = this.#ofDefinitions.get(hooks);
      if (known !== undefined) return known;
      const read = readHooks(hooks, source, this.#options.readCondition).hooks;
      this.#ofDefinitions.set(hooks, read);
      return read;
    });
  }

  async #runOne({ hook, match }: DueHook, run: RunInput): Promise<HookRun> {
    const { clock } = this.#options;
    const startedAt = clock.monotonic();
    const end = await this.#start(hook, run);
    const { readHookOutput } = await import('./read-hook-output.ts');
    const reply = readHookOutput(end, {
      event: hook.event,
      // The text of a server never allows anything.
      mayAllow: hook.source.kind === 'user' && match === 'yes' && hook.action.kind !== 'mcp_tool',
      blocksOnFailure: hook.blocksOnFailure,
    });
    const ms = Math.round(clock.monotonic() - startedAt);
    const { source, action } = hook;
    const isAlwaysRecorded = action.kind === 'mcp_tool';
    return { source, what: describeAction(action), ms, reply, isAlwaysRecorded };
  }

  /** Runs a hook to its end. Never rejects. */
  async #start(hook: HookDefinition, { occasion, input, signal }: RunInput): Promise<HookEnd> {
    const { action, source, timeoutMs } = hook;
    const common = { source, input, timeoutMs, signal };
    try {
      if (action.kind === 'prompt' || action.kind === 'agent') {
        const { askHookQuestion } = await import('./ask-question.ts');
        const { ask, askAgent } = occasion;
        return await askHookQuestion({ ...common, action, ...dropMissing({ ask, askAgent }) });
      }
      if (action.kind === 'mcp_tool') {
        const { runToolHook } = await import('./run-tool-hook.ts');
        const { callTool } = occasion;
        const fields = buildHookInput(occasion);
        return await runToolHook({
          ...common,
          action,
          input: fields,
          ...dropMissing({ callTool }),
        });
      }
      if (action.kind === 'http') {
        const { runHttpHook } = await import('./run-http-hook.ts');
        const { findUrlProblem } = occasion;
        const request = { ...common, action, ...dropMissing({ findUrlProblem }) };
        return await runHttpHook(request, this.#options);
      }
      if (action.kind === 'function') {
        const { runFunctionHook } = await import('./function-hook.ts');
        return await runFunctionHook({ run: action.run, input, timeoutMs, signal });
      }
      const { runCommandHook } = await import('./run-command-hook.ts');
      return await runCommandHook({ ...common, action, task: occasion.task }, this.#options);
    } catch (thrown) {
      return { kind: 'failed', reason: `it could not run: ${errorMessage(thrown)}` };
    }
  }
}

/** Resolves when the signal aborts. */
function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => onAbort(signal, resolve));
}

/** Tells whether a hook has given the call its present arguments, so that it does not run again. */
function isExcluded(
  { source, action }: HookDefinition,
  { without }: Pick<HookOccasion, 'without'>,
): boolean {
  return source.where === without?.source.where && describeAction(action) === without.what;
}

interface RunInput {
  readonly occasion: HookOccasion;
  readonly input: string;
  readonly signal: AbortSignal;
}
