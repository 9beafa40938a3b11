import { batchHookFields, endHookFields } from '../../protocol/hook-fields.ts';
import { canonicalToolName } from '../../protocol/tool-aliases.ts';
import { createNotice } from '../../protocol/notice-text.ts';
import type { EndReason } from '../../protocol/end-reason.ts';
import type { EngineDeps } from '../task/deps.ts';
import { stopOrder } from '../task/stop-order.ts';
import type { TaskRun } from '../task/task-run.ts';
import { runExpansionHooks, runInstructionHooks } from './prompt-hooks.ts';
import { describeHookTask, hasHooks, queueContext, runHooks, SILENCE } from './run-hooks.ts';

/** The maximum number of times that hooks make a task go on instead of ending, in one activation. */
const MAX_STOP_ROUNDS = 25;
/** The time for hooks at the end of a task that was stopped, in milliseconds. */
const END_MS = 1_000;

/** Runs the hooks of the beginning of a task. What they say is added to its first request. */
export async function runStartHooks(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { spec, state, parent } = run;
  if (parent === null) {
    if (deps.hooks?.beginSession(describeHookTask(deps.store, run)) !== true) return;
    const source = state.activation.number === 0 ? 'startup' : 'resume';
    queueContext(run, 'start', await runSessionStartHooks(deps, run, source));
    if (source === 'startup') await runInstructionHooks(deps, run);
    return;
  }
  // An earlier process has told hooks of this start, and they are told of its end once.
  if (state.toldToHooks.isStartTold) return;
  const event = 'SubagentStart';
  // If this process is killed while they run, the next one still tells them of the end.
  if (hasHooks(deps, run, event) || hasHooks(deps, run, 'SubagentStop'))
    run.journal.record({ type: 'hook.ran', event, about: null, outcome: SILENCE });
  run.isKnownToHooks = true;
  const { context } = await runHooks(deps, run, { event, matched: spec.agent.name, fields: {} });
  queueContext(run, 'start', context);
}

/**
 * Runs the hooks of the messages of the user that the next request would contain. A message that a hook refuses is
 * withdrawn, and the task ends.
 */
export async function runPromptHooks(deps: EngineDeps, run: TaskRun): Promise<void> {
  const isHeard = (['UserPromptSubmit', 'UserPromptExpansion'] as const).some((event) =>
    hasHooks(deps, run, event),
  );
  if (run.parent !== null || !isHeard) return;
  for (const input of run.state.conversation.queued) {
    const { id, kind, text } = input;
    if ((kind !== 'prompt' && kind !== 'message') || run.messagesSeenByHooks.has(id)) continue;
    const expanded = await runExpansionHooks(deps, run, input);
    const about = { event: 'UserPromptSubmit', about: id, fields: { prompt: text } } as const;
    const submitted = expanded.block === undefined ? await runHooks(deps, run, about) : expanded;
    const { block } = submitted;
    const context = [...new Set([...expanded.context, ...submitted.context])];
    if (block !== undefined) {
      run.journal.record({ type: 'input.withdrawn', ids: [id] });
      run.stop(stopOrder('client', `a hook refused the message: ${block}`));
    }
    // After an interruption, hooks have not judged the message, and are told of it again.
    run.cancellation.turnSignal.throwIfAborted();
    run.messagesSeenByHooks.add(id);
    queueContext(run, `prompt-${id}`, context);
  }
}

/**
 * Runs the hooks after all calls of an answer have ended. What they say is added to the next request, and a refusal ends the
 * task.
 */
export async function runBatchHooks(deps: EngineDeps, run: TaskRun): Promise<void> {
  const { conversation, inputsFromHooks, turns } = run.state;
  const { openCalls, results } = conversation;
  if (run.cancellation.turnSignal.aborted || !hasHooks(deps, run, 'PostToolBatch')) return;
  if (openCalls.some(({ id }) => !results.has(id))) return;
  const calls = openCalls.map(({ id, name, input }) =>
    batchHookFields(
      { id, tool: canonicalToolName(name) ?? name, input: inputsFromHooks.get(id) ?? input },
      results.get(id)?.text ?? '',
    ),
  );
  const { block, context } = await runHooks(deps, run, {
    event: 'PostToolBatch',
    fields: { tool_calls: calls },
  });
  if (block !== undefined)
    run.stop(stopOrder('client', `a hook ended it after its calls: ${block}`));
  queueContext(run, `batch-${turns}`, context);
}

/**
 * Runs the hooks after the context of a task was summarized. To the main agent, a conversation then begins again: what hooks of
 * `SessionStart` say is added to the next request.
 */
export async function runCompactedHooks(
  deps: EngineDeps,
  run: TaskRun,
  { trigger, summary }: { readonly trigger: 'auto' | 'manual'; readonly summary: string },
): Promise<void> {
  const fields = { trigger, compact_summary: summary };
  await runHooks(deps, run, { event: 'PostCompact', matched: trigger, fields });
  if (run.parent !== null) return;
  const said = await runSessionStartHooks(deps, run, 'compact');
  const { turns, conversation } = run.state;
  queueContext(run, `compact-${turns}-${conversation.compaction.sinceAnswer}`, said);
}

async function runSessionStartHooks(
  deps: EngineDeps,
  run: TaskRun,
  source: 'startup' | 'resume' | 'compact',
): Promise<readonly string[]> {
  const { provider, id } = run.spec.model;
  const fields = { source, model: `${provider}/${id}` };
  const { context } = await runHooks(deps, run, { event: 'SessionStart', matched: source, fields });
  return context;
}

/**
 * Runs the hooks of the end of a task that has completed its work. Returns true if the task goes on: a hook wants it to, or
 * something has arrived while hooks ran.
 */
export async function runStopHooks(deps: EngineDeps, run: TaskRun): Promise<boolean> {
  const { state, parent } = run;
  const event = parent === null ? 'Stop' : 'SubagentStop';
  if (!hasHooks(deps, run, event) || wereToldOfEnd(run)) return false;
  const rounds = countStopRounds(run);
  const { block } = await runHooks(deps, run, {
    event,
    matched: parent === null ? null : run.spec.agent.name,
    fields: endHookFields(state.answer?.text ?? '', { isRepeated: rounds > 0 }),
    isAlwaysRecorded: parent !== null,
  });
  run.turnsAtStopHooks = state.turns;
  if (block === undefined) return true;
  if (rounds >= MAX_STOP_ROUNDS) {
    const message = `A hook made the task go on ${MAX_STOP_ROUNDS} times (limit stop_hook_rounds = ${MAX_STOP_ROUNDS}), so the task ends although the hook says: ${block}`;
    run.journal.record({ type: 'warning', message });
    return true;
  }
  const id = `${stopRoundPrefix(run)}${rounds + 1}`;
  run.journal.record({ type: 'input.queued', input: createNotice(id, `A hook says: ${block}`) });
  return true;
}

/**
 * Runs the hooks of the end of a subagent that ended otherwise than by completing its work, and of a main agent that an error
 * has ended. They cannot change the end.
 */
export async function runEndHooks(deps: EngineDeps, run: TaskRun, end: EndReason): Promise<void> {
  if (run.parent === null && end.status === 'failed') {
    const fields = {
      error: end.error?.code ?? 'INTERNAL_ERROR',
      error_details: end.because,
      last_assistant_message: run.state.answer?.text ?? '',
    };
    const signal = AbortSignal.timeout(END_MS);
    await runHooks(deps, run, { event: 'StopFailure', matched: fields.error, fields, signal });
    return;
  }
  const isKnown = run.isKnownToHooks || run.state.toldToHooks.isStartTold;
  if (!isKnown || wereToldOfEnd(run)) return;
  await runHooks(deps, run, {
    event: 'SubagentStop',
    matched: run.spec.agent.name,
    fields: endHookFields(run.state.answer?.text ?? '', { isRepeated: false }),
    isAlwaysRecorded: true,
    signal: AbortSignal.timeout(END_MS),
  });
}

/** Tells whether hooks were told that the task ends, and it has sent no request since then. */
function wereToldOfEnd({ turnsAtStopHooks, state }: TaskRun): boolean {
  return (turnsAtStopHooks ?? state.toldToHooks.endTurns) === state.turns;
}

function stopRoundPrefix({ state }: TaskRun): string {
  return `hook-stop-${state.activation.number}-`;
}

function countStopRounds(run: TaskRun): number {
  const prefix = stopRoundPrefix(run);
  return [...run.state.conversation.inputIds].filter((id) => id.startsWith(prefix)).length;
}
