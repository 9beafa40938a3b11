import type { HookOutcome, HookRecord, HookSource, HookVerdict } from '../protocol/hook.ts';
import type { HookReply } from './read-hook-output.ts';

/** One hook that has run, and what it said. */
export interface HookRun {
  readonly source: HookSource;
  /** The command or the address. */
  readonly what: string;
  /** The duration in milliseconds. */
  readonly ms: number;
  readonly reply: HookReply;
  /** True if it leaves a record even if it has nothing to say, because it may have changed something on a server. */
  readonly isAlwaysRecorded: boolean;
}

/** The number of fields of a reply that says nothing: its outcome and its code. */
const SILENT_FIELDS = 2;
/** The verdicts, the strictest first. */
const STRICTEST_FIRST = ['deny', 'ask', 'allow'] as const;

/**
 * Merges what the hooks of one occasion said, in their order. The strictest verdict counts, with the first reason for it.
 * The last new input counts. A permission does not count if another hook has changed the input, because it was given for
 * other arguments.
 */
export function mergeOutcomes(runs: readonly HookRun[]): HookOutcome {
  const changes = runs.filter(({ reply }) => reply.updatedInput !== undefined);
  const change = changes.at(-1);
  const lost = (run: HookRun): string | undefined => {
    if (run.reply.updatedInput !== undefined && run !== change)
      return 'a later hook replaced its new input';
    return run.reply.verdict?.verdict === 'allow' && change !== undefined && change !== run
      ? 'its permission does not count, because another hook changed the input'
      : undefined;
  };
  const verdict = findVerdict(
    runs.filter(
      (run) => run.reply.verdict?.verdict !== 'allow' || change === undefined || change === run,
    ),
  );
  const block = runs.find(({ reply }) => reply.block !== undefined)?.reply.block;
  const stop = runs.find(({ reply }) => reply.stop !== undefined)?.reply.stop;
  const used = verdict?.verdict === 'deny' ? undefined : change;
  const updatedInput = used?.reply.updatedInput;
  return {
    ...(verdict === undefined ? {} : { verdict }),
    ...(block === undefined ? {} : { block }),
    ...(used === undefined || updatedInput === undefined
      ? {}
      : { updatedInput, changedBy: { source: used.source, what: used.what } }),
    context: runs.flatMap(({ reply }) => (reply.context === undefined ? [] : [reply.context])),
    ...(stop === undefined ? {} : { stop }),
    records: runs.flatMap((run) => {
      const note = lost(run);
      return note === undefined && !run.isAlwaysRecorded && isSilent(run.reply)
        ? []
        : [toRecord(run, note)];
    }),
  };
}

function findVerdict(runs: readonly HookRun[]): HookVerdict | undefined {
  for (const verdict of STRICTEST_FIRST) {
    const run = runs.find(({ reply }) => reply.verdict?.verdict === verdict);
    if (run !== undefined)
      return { verdict, reason: run.reply.verdict?.reason ?? '', source: run.source };
  }
  return undefined;
}

/** Tells whether a hook has succeeded and said nothing. */
function isSilent(reply: HookReply): boolean {
  return reply.outcome === 'ok' && Object.keys(reply).length === SILENT_FIELDS;
}

function toRecord({ source, what, ms, reply }: HookRun, note: string | undefined): HookRecord {
  const { outcome, code, message, ignoredAllow } = reply;
  const parts = [note, message].filter((part) => part !== undefined);
  return {
    source,
    what,
    outcome,
    code,
    ms,
    ...(ignoredAllow === undefined ? {} : { ignoredAllow }),
    ...(parts.length === 0 ? {} : { message: parts.join('; ') }),
  };
}
