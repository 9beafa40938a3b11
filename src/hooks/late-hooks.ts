import type { HookOutcome, HookRecord, LateHookOutcome } from '../protocol/hook.ts';
import { describeHookRecord } from '../protocol/hook-text.ts';
import { describeAction, type HookDefinition } from './hook-definition.ts';
import { limitContext, readHookOutput, type HookEnd, type HookReply } from './read-hook-output.ts';

/** The exit code with which a hook that nobody waits for wakes its task. */
const WAKE_CODE = 2;

/** The outcome of a hook that nobody has waited for, and whether the task is to be woken for it. */
interface LateReply {
  readonly outcome: HookOutcome;
  readonly wakes: boolean;
}

/**
 * Reads what a hook said that nobody has waited for. It comes too late to decide anything: only its texts count, and that it
 * failed. Returns null if it has succeeded without a word.
 *
 * @param ms the duration in milliseconds
 */
export function readLateOutput(hook: HookDefinition, end: HookEnd, ms: number): LateReply | null {
  const { event, source, action } = hook;
  const wakes = hook.isRewaking && end.kind === 'exited' && end.code === WAKE_CODE;
  const reply = wakes ? readWakeText(end) : readTexts(end, event);
  const { outcome, code, message, context } = reply;
  if (outcome === 'ok' && message === undefined && context === undefined) return null;
  // A message for people reaches the model as well, as in Claude Code: nobody looks at the moment to which it belongs.
  const texts = [context, outcome === 'ok' ? message : undefined].filter(
    (text) => text !== undefined,
  );
  const record: HookRecord = {
    source,
    what: describeAction(action),
    outcome,
    code,
    ms,
    ...(message === undefined ? {} : { message }),
  };
  return { outcome: { context: texts, records: [record] }, wakes };
}

/** Reads what a hook that wakes its task says to the model: its stderr or, if that is empty, its stdout. */
function readWakeText({ code, stdout, stderr }: Extract<HookEnd, { kind: 'exited' }>): HookReply {
  const said = stderr.trim() === '' ? stdout.trim() : stderr.trim();
  const text = said === '' ? 'A hook woke you without a reason.' : said;
  return { outcome: 'ok', code, context: limitContext(text).context ?? '' };
}

const TOO_LATE = 'what it decided has no effect, because nobody waits for it (async)';

function readTexts(end: HookEnd, event: HookDefinition['event']): HookReply {
  const reply = readHookOutput(end, { event, mayAllow: false, blocksOnFailure: false });
  const { code, context, message, outcome, verdict, block, updatedInput, stop } = reply;
  const decided = [verdict, block, updatedInput, stop].some((each) => each !== undefined);
  const parts = [...(decided ? [TOO_LATE] : []), ...(message === undefined ? [] : [message])];
  return {
    code,
    outcome: outcome === 'blocked' ? 'failed' : outcome,
    ...(context === undefined ? {} : { context }),
    ...(parts.length === 0 ? {} : { message: parts.join('; ') }),
  };
}

/** Describes the failures among outcomes that no task has taken, one line for each. The lines quote the hooks. */
export function describeLostFailures(outcomes: readonly LateHookOutcome[]): readonly string[] {
  return outcomes.flatMap(({ event, outcome: { records } }) =>
    records.flatMap((record) =>
      record.outcome === 'ok' ? [] : [`${event} ${describeHookRecord(record)}`],
    ),
  );
}
