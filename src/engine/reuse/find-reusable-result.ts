import { isDeepStrictEqual } from 'node:util';
import { toDelegator, planChild, prepareDelegation } from '../delegation/plan-child.ts';
import { catchMusterError, errorMessage, MusterError } from '../../base/errors.ts';
import { onAbort } from '../../base/async.ts';
import type { EngineDeps, ReuseOutcome } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import { hasOnlyPrompt } from './can-reuse.ts';
import { reuseKey } from './reuse-key.ts';
import { escapeTags } from '../../base/control-tags.ts';
import { truncate } from '../../base/text.ts';
import type { FileAccess, FileSeen } from '../../protocol/tool.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import { createPreviewAttachPort } from '../calls/attachment-ports.ts';
import { isWithinCaps } from '../calls/execute-call.ts';
import { decideNow } from '../permissions/judge.ts';
import { computePrefixHash } from '../prompt/prefix.ts';
import { prepareCall, type CallingTask } from '../permissions/prepare-call.ts';
import { redactAgent } from '../delegation/create-task.ts';
import { parseTaskArguments } from '../task/task-arguments.ts';
import { appendNotes } from '../../tools/shared/output.ts';
import {
  isNoteTool,
  RecordedRunReader,
  type RecordedCall,
  type RecordedRun,
} from './recorded-run.ts';
import { createReadOnlyContext } from '../permissions/read-for-task.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import { permissionsWith } from '../task/task-permissions.ts';

/**
 * The maximum number of earlier results that are tried, the newest first. Each may match a different state of the
 * files.
 */
const MAX_CANDIDATES = 5;
/** The maximum time for all tries together. When it is over, the task runs. */
const SEARCH_TIMEOUT_MS = 5_000;

/**
 * Finds the result of an earlier task that had the same inputs and read the same files. Returns the result, the
 * reason why there is none, or null if the task is not eligible for reuse. Rejects when the task is stopped.
 */
export async function findReusableResult(
  deps: EngineDeps,
  run: TaskRun,
): Promise<ReuseOutcome | null> {
  const { spec } = run;
  // A task that can see other tasks depends on their state, which the key does not contain.
  const key = spec.handed.length > 0 ? null : reuseKey(spec, deps.redact);
  if (key === null) return null;
  const missed = (reason: string): ReuseOutcome => ({ type: 'reuse.missed', key, because: reason });
  const controller = new AbortController();
  const deadline = deps.deadlines.after(SEARCH_TIMEOUT_MS, () => controller.abort());
  const removeListener = onAbort(run.cancellation.signal, () => controller.abort());
  try {
    const found = await findNewestValidResult(deps, run, { key, signal: controller.signal });
    run.cancellation.signal.throwIfAborted();
    if (typeof found === 'string') return missed(found);
    // A message may have arrived during the search.
    return hasOnlyPrompt(run.state.conversation)
      ? found
      : missed('it got another message besides its prompt');
  } catch (thrown) {
    run.cancellation.signal.throwIfAborted();
    // Reuse only saves a run: a fault in it must not end the task.
    deps.onFault(spec.id, thrown);
    return missed(`earlier results could not be checked: ${errorMessage(thrown)}`);
  } finally {
    deadline.cancel();
    removeListener();
  }
}

async function findNewestValidResult(
  deps: EngineDeps,
  run: TaskRun,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
): Promise<ReuseOutcome | string> {
  let reason = 'no earlier task had the same inputs';
  for (const [index, of] of deps.store.findReusable(key).slice(0, MAX_CANDIDATES).entries()) {
    const repetition = new ReadRepetition(deps, signal);
    const found = await repetition.findValidRun(of, run);
    if (typeof found !== 'string') {
      const { endedAt: at, result: text } = found;
      return { type: 'task.reused', of, at, read: [...repetition.filesRead.values()], text };
    }
    // The reason for the newest result is the most useful.
    if (index === 0) reason = `task ${of} ${found}`;
    if (signal.aborted) break;
  }
  return reason;
}

/** The maximum number of calls that are repeated for one result, including the calls of descendants. */
const MAX_CALLS = 500;
/** The maximum length of a call's arguments in a reason, in code points. */
const MAX_SHOWN_INPUT = 200;

/**
 * Checks whether everything that an earlier task and its descendants have read is unchanged: each call is decided by
 * the present rights, repeated, and must give the same output. Nobody is asked and nothing is written.
 */
class ReadRepetition {
  /** The files that were read again and were unchanged, by path. */
  readonly filesRead = new Map<string, FileSeen>();
  private readonly deps: EngineDeps;
  private readonly signal: AbortSignal;
  private callCount = 0;

  /** @param signal aborts when the repetition takes too long or the task is stopped */
  constructor(deps: EngineDeps, signal: AbortSignal) {
    this.deps = deps;
    this.signal = signal;
  }

  /**
   * Returns the run of an earlier task if its result also holds for `caller`. Otherwise returns the reason, phrased
   * as the end of a sentence that starts with the earlier task.
   */
  async findValidRun(id: string, caller: CallingTask): Promise<RecordedRun | string> {
    const run = this.readRecordedRun(id);
    if (typeof run === 'string') return run;
    if (run.reusedFrom !== null) return 'had no result of its own';
    const key = reuseKey(caller.spec, this.deps.redact);
    if (key === null || key !== reuseKey(run.spec)) return 'had other inputs';
    const compared = new Set<string>();
    for (const call of run.calls) {
      // Equal calls with equal outputs are repeated once. Equal calls with different outputs are all repeated, and
      // one of them then differs.
      const same = JSON.stringify([call.tool, call.input, call.text, call.error, call.read]);
      if (call.child === null && compared.has(same)) continue;
      compared.add(same);
      const difference = await this.findDifference(call, caller);
      if (difference !== null) return difference;
    }
    return run;
  }

  private readRecordedRun(id: string): RecordedRun | string {
    const { store } = this.deps;
    // An imported log describes files on another machine, and its author could have written anything into it.
    if (store.isImported(id)) return 'was imported';
    const reader = new RecordedRunReader();
    const problems = catchMusterError(() => store.scan(id, reader.add));
    if (problems instanceof MusterError) return 'does not exist any more';
    return problems.length > 0 ? 'has a damaged log' : reader.run();
  }

  private async findDifference(call: RecordedCall, caller: CallingTask): Promise<string | null> {
    this.callCount += 1;
    if (this.callCount > MAX_CALLS) return `made more than ${MAX_CALLS} calls`;
    const { tool: name, input } = call;
    const ready = prepareCall(caller, { type: 'tool_call', id: 'reuse', name, input });
    if (!ready.ready) return `made a call of ${name} that is not valid now`;
    const { decision, pathAccess } = await decideNow(this.deps, caller, ready);
    if (decision.verdict !== 'allow')
      return `made a call of ${name} that would not run now without a question`;
    if (name === 'Task') return await this.findChildDifference(call, caller);
    if (isNoteTool(name)) return null;
    if (await this.givesSameOutput(call, ready, { caller, pathAccess })) return null;
    return this.signal.aborted
      ? 'read so much that comparing it takes too long'
      : `made a call of ${name} that gives something else now: ${truncate(JSON.stringify(input), MAX_SHOWN_INPUT)}`;
  }

  private async givesSameOutput(
    { text, error, read }: RecordedCall,
    { tool, input, notes }: ReadyCall,
    { caller, pathAccess }: { readonly caller: CallingTask; readonly pathAccess: FileAccess },
  ): Promise<boolean> {
    if (tool.kind !== 'read' || tool.replay !== 'pure') return false;
    const context = createReadOnlyContext(this.deps, caller, {
      pathAccess,
      signal: this.signal,
      attach: createPreviewAttachPort(this.deps.models, caller.spec.model),
    });
    const output = await runOrNull(() => tool.run(input, context));
    if (output === null || this.signal.aborted) return false;
    // An output that was cut names a spill file of the task that made the call, so it can't be compared.
    const full = appendNotes(output.text, notes);
    if (!isWithinCaps(full, tool, this.deps.settings.caps)) return false;
    const now = {
      text: tool.ownWords === true ? escapeTags(full) : full,
      error: output.error ?? null,
      read: output.facts?.read ?? [],
    };
    if (!isDeepStrictEqual(now, { text, error, read })) return false;
    for (const seen of read) this.filesRead.set(seen.path, seen);
    return true;
  }

  /**
   * Checks a child, whose reads count as reads of its parent: the call must plan the same child now, and that child
   * must read the same.
   */
  private async findChildDifference(
    { child, input }: RecordedCall,
    caller: CallingTask,
  ): Promise<string | null> {
    const parsed = parseTaskArguments(input);
    if (child === null || !parsed.ok || parsed.input.resume !== undefined) {
      return 'made a call of Task that created no task';
    }
    const { deps } = this;
    await prepareDelegation(deps, caller.spec.agent, parsed.input);
    const plan = planChild(deps, toDelegator(caller), parsed.input);
    if (plan instanceof MusterError) return `has a child ${child} that can't be created now`;
    if (plan.agent.cache === false) return `has a child ${child} whose results are never reused`;
    const { prompt, tools, listedTools, preloaded } = plan.setup;
    const { outputSchema: _, ...callerSpec } = caller.spec;
    const { outputSchema } = parsed.input;
    const spec: TaskSpec = {
      ...callerSpec,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      agent: redactAgent(plan.agent),
      prompt: parsed.input.prompt,
      model: plan.model,
      rights: plan.rights,
      tools: tools.map(({ name }) => name),
      limits: plan.limits,
      prefix: computePrefixHash(prompt, listedTools),
    };
    const found = await this.findValidRun(findReuseSource(this.readRecordedRun(child)) ?? child, {
      spec,
      view: new Map(tools.map((tool) => [tool.name, tool])),
      state: { ...caller.state, spec, skills: new Set(preloaded.names) },
      permissions: permissionsWith(caller.permissions, plan.rights),
    });
    return typeof found === 'string' ? `has a child ${child} that ${found}` : null;
  }
}

/** Returns the task whose result a recorded run reused; null if the run has its own result. */
function findReuseSource(run: RecordedRun | string): string | null {
  return typeof run === 'string' ? null : run.reusedFrom;
}

/** Runs a call of a tool. Returns null if it fails, which also happens when it tries to do more than read. */
async function runOrNull<T>(run: () => Promise<T>): Promise<T | null> {
  try {
    return await run();
  } catch {
    // The same error occurs when the task itself runs, and is reported then.
    return null;
  }
}
