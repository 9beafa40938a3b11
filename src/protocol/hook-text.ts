import type { TaskEvent } from './events/event.ts';
import type { HookEventName, HookRecord } from './hook.ts';

const OUTCOMES = { ok: 'says', blocked: 'refused', failed: 'failed', timeout: 'took too long' };

/**
 * Describes what hooks said, one line for each hook. The lines quote the hooks, and must be made safe to print.
 */
export function describeHookRun({
  event,
  outcome: { records },
}: Extract<TaskEvent, { type: 'hook.ran' }>): readonly string[] {
  return records.map((record) => `${event} ${describeHookRecord(record)}`);
}

/** Describes that the user's own hook has allowed a call, in one line that quotes the hook. */
export function describeHookGrant({
  tool,
  hook,
}: Extract<TaskEvent, { type: 'call.granted' }>): string {
  return `${tool} was granted by the user: a hook of ${hook.where} allows this call`;
}

/** Describes what one hook said, in one line that quotes the hook. */
export function describeHookRecord({ source, what, outcome, message }: HookRecord): string {
  const subject = `hook of ${source.where} (${what})`;
  if (message === undefined) return `${subject} ${outcome === 'ok' ? 'ran' : OUTCOMES[outcome]}`;
  return `${subject} ${OUTCOMES[outcome]}: ${message}`;
}

/** Tells whether a hook could not do its work, which a person should know at once. */
export function hasFailedHook({
  outcome: { records },
}: Extract<TaskEvent, { type: 'hook.ran' }>): boolean {
  return records.some(({ outcome }) => outcome === 'failed' || outcome === 'timeout');
}

/** Describes when a hook runs: `PreToolUse (Bash, if Bash(git *))`. The text quotes the file of the hook. */
export function describeHookMoment({
  event,
  matcher,
  condition,
}: {
  readonly event: HookEventName;
  /** Empty: the hook runs at every occasion. */
  readonly matcher: string;
  /** The text of the condition. Default: none. */
  readonly condition?: string | undefined;
}): string {
  const parts = [
    ...(matcher === '' ? [] : [matcher]),
    ...(condition === undefined ? [] : [`if ${condition}`]),
  ];
  return parts.length === 0 ? event : `${event} (${parts.join(', ')})`;
}
