import { isDeeperThan, isJsonObject, type JsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { listNamesOnOneLine, sanitizeForTerminal, sanitizeLine } from '../base/terminal-text.ts';
import { truncate } from '../base/text.ts';
import { readCallFields } from './read-call-fields.ts';
import { ReplyReader } from './reply-reader.ts';
import type { HookEventName, HookRecord, HookVerdict } from '../protocol/hook.ts';

/** The maximum length of the text that one hook adds for the model. */
const MAX_CONTEXT = 10_000;
/** The maximum length of a reason for the model and for people. */
const MAX_REASON = 2_000;
/** The maximum length of a message for people. */
const MAX_MESSAGE = 500;
/** The deepest nesting of what a hook prints. */
const MAX_DEPTH = 100;
/** The exit code with which a hook refuses something. */
const BLOCK_CODE = 2;

/** The way in which a hook ended, with what it said. */
export type HookEnd =
  | {
      readonly kind: 'exited';
      /** The exit code; null if a signal ended the command. */
      readonly code: number | null;
      readonly signal: string | null;
      readonly stdout: string;
      readonly stderr: string;
      /** A note for people about side effects, such as files that were moved into quarantine. Default: none. */
      readonly notice?: string;
    }
  | { readonly kind: 'answered'; readonly status: number; readonly body: string }
  | { readonly kind: 'timeout'; readonly limitMs: number }
  /** It could not run, or was ended before it was finished. `reason` is a clause such as `it printed too much`. */
  | { readonly kind: 'failed'; readonly reason: string };

/** The end of a hook whose signal aborted. */
export const STOPPED_HOOK: HookEnd = {
  kind: 'failed',
  reason: 'it was ended, because its call or task was stopped',
};

/** The rules for reading what a hook said. */
export interface HookReading {
  readonly event: HookEventName;
  /** True if a permission of this hook counts: it is from the user's own settings and is meant for this very call. */
  readonly mayAllow: boolean;
  /** True if a failure counts as a refusal. */
  readonly blocksOnFailure: boolean;
}

/** The meaning of what one hook said. */
export interface HookReply {
  readonly outcome: HookRecord['outcome'];
  readonly code: number | null;
  readonly verdict?: Pick<HookVerdict, 'verdict' | 'reason'>;
  readonly block?: string;
  readonly updatedInput?: JsonObject;
  readonly context?: string;
  readonly stop?: string;
  /** True if it allowed a call and may not. Absent otherwise. */
  readonly ignoredAllow?: true;
  /** One line for people. Absent if there is nothing to say. */
  readonly message?: string;
}

/** The effect of a refusal at an event. `context`: it is too late to refuse, so the model gets the reason. */
const REFUSALS: Readonly<Record<HookEventName, 'verdict' | 'block' | 'context' | 'nothing'>> = {
  PreToolUse: 'verdict',
  PermissionRequest: 'verdict',
  UserPromptSubmit: 'block',
  UserPromptExpansion: 'block',
  PreModelSwitch: 'block',
  Elicitation: 'block',
  ElicitationResult: 'block',
  Stop: 'block',
  SubagentStop: 'block',
  PreCompact: 'block',
  PostToolBatch: 'block',
  PostToolUse: 'context',
  PostToolUseFailure: 'context',
  SessionStart: 'nothing',
  InstructionsLoaded: 'nothing',
  PostModelSwitch: 'nothing',
  PostCompact: 'nothing',
  SubagentStart: 'nothing',
  Notification: 'nothing',
  PermissionDenied: 'nothing',
  StopFailure: 'nothing',
  SessionEnd: 'nothing',
};

/** The events at which plain text of a hook is context for the model. */
const TEXT_IS_CONTEXT: ReadonlySet<HookEventName> = new Set([
  'SessionStart',
  'UserPromptSubmit',
  'UserPromptExpansion',
  'PostModelSwitch',
]);
/** The events at which a failure never counts as a refusal: a broken hook would keep a task from ending. */
const NEVER_BLOCKED_BY_FAILURE: ReadonlySet<HookEventName> = new Set(['Stop', 'SubagentStop']);

/**
 * Reads what a hook said, by the rules of Claude Code: exit code 0 with JSON or text, 2 for a refusal with the reason on
 * stderr, and every other code for a failure that refuses nothing. Everything is hostile. If any part of the JSON is not
 * as it must be, the parts that refuse something still count, and nothing else does.
 */
export function readHookOutput(end: HookEnd, reading: HookReading): HookReply {
  const reply = readEnd(end, reading);
  const hasFailed = reply.outcome === 'failed' || reply.outcome === 'timeout';
  if (!hasFailed || !reading.blocksOnFailure || NEVER_BLOCKED_BY_FAILURE.has(reading.event))
    return reply;
  const why = reply.message ?? 'it failed';
  const reason = `The hook has failed, and its settings refuse this in that case: ${why}`;
  // The strictest verdict counts: a hook that asks before it fails is refused as well.
  const refusal = refuse(reading.event, reason);
  const outcome = refusal.outcome === 'blocked' ? 'blocked' : reply.outcome;
  return { ...reply, ...refusal, outcome, message: why };
}

function readEnd(end: HookEnd, reading: HookReading): HookReply {
  switch (end.kind) {
    case 'failed':
      return fail(null, end.reason);
    case 'timeout': {
      const message = `it was ended after ${end.limitMs / 1000} s, the time that its settings give it (timeout)`;
      return { outcome: 'timeout', code: null, message };
    }
    case 'answered': {
      const { status, body } = end;
      if (status >= 200 && status < 300) return readText(body, status, reading);
      return fail(status, `the server answered with the status ${status}`);
    }
    case 'exited':
      return addNotice(readExit(end, reading), end.notice);
    default:
      return end satisfies never;
  }
}

function readExit(end: Extract<HookEnd, { kind: 'exited' }>, reading: HookReading): HookReply {
  const { code, signal, stdout, stderr } = end;
  if (code === 0) return readText(stdout, code, reading);
  const said = stderr.trim();
  if (code === BLOCK_CODE) {
    const reason = said === '' ? 'A hook refused this without a reason.' : cleanReason(said);
    return { code, ...refuse(reading.event, reason) };
  }
  const how =
    code === null ? `it was ended by ${signal ?? 'a signal'}` : `it exited with code ${code}`;
  return fail(code, said === '' ? how : `${how}: ${said}`);
}

function readText(text: string, code: number, reading: HookReading): HookReply {
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) {
    const value = parseJsonLine(trimmed);
    return isJsonObject(value) && !isDeeperThan(value, MAX_DEPTH)
      ? readFields(value, code, reading)
      : fail(code, 'it printed something that begins like JSON and is not valid JSON');
  }
  if (trimmed === '' || !TEXT_IS_CONTEXT.has(reading.event)) return { outcome: 'ok', code };
  return { outcome: 'ok', code, ...limitContext(trimmed) };
}

/** Reads the JSON of a hook. */
function readFields(value: JsonObject, code: number, reading: HookReading): HookReply {
  const notes: string[] = [];
  const fields = new ReplyReader(value, '');
  const { event } = reading;
  const stop = readStop(fields);
  const decision = OLD_DECISIONS[fields.choice('decision', Object.keys(OLD_DECISIONS)) ?? ''];
  const reason = fields.text('reason');
  const systemMessage = fields.text('systemMessage');
  fields.flag('suppressOutput');
  const specific = fields.object('hookSpecificOutput');
  const own = new ReplyReader(specific ?? {}, 'hookSpecificOutput.');
  if (specific !== undefined) own.choice('hookEventName', [event, GEMINI_EVENTS[event] ?? event]);
  const call = readCallFields(own, event, notes);
  const context = own.text('additionalContext');
  const ignored = [...fields.unread(), ...own.unread()];
  if (ignored.length > 0)
    notes.push(`it set fields that have no effect: ${listNamesOnOneLine(ignored, 5)}`);

  const wish = call.verdict ?? (event === 'PreToolUse' ? decision : undefined);
  const isRefused = wish === 'deny' || decision === 'deny';
  const explained = cleanReason(call.reason ?? reason ?? 'A hook gave no reason.');
  const problems = [...fields.problems, ...own.problems];
  const isUsable = problems.length === 0;
  if (wish === 'allow' && !reading.mayAllow)
    notes.push(
      "it allowed the call, which only a hook of the user's own settings for this tool may do",
    );
  const limited: LimitedContext = context === undefined || !isUsable ? {} : limitContext(context);
  const line = cleanMessage([
    ...(isUsable ? [] : [`only refusals count, because ${problems.join('; ')}`]),
    ...(limited.message === undefined ? [] : [limited.message]),
    ...notes,
    ...(systemMessage === undefined ? [] : [systemMessage]),
  ]);
  const refusal: Partial<Refusal> = isRefused ? refuse(event, explained) : {};
  const verdict = readVerdict(wish, { ...reading, mayAllow: reading.mayAllow && isUsable });
  const joined = [refusal.context, limited.context].filter((each) => each !== undefined);
  return {
    code,
    ...(verdict === undefined ? {} : { verdict: { verdict, reason: explained } }),
    ...(isUsable && call.updatedInput !== undefined ? { updatedInput: call.updatedInput } : {}),
    ...(stop === undefined && call.interrupts ? { stop: explained } : {}),
    ...(stop === undefined ? {} : { stop: cleanReason(stop) }),
    ...refusal,
    outcome: findOutcome({ refusal, isUsable, endsTask: stop !== undefined || call.interrupts }),
    ...(joined.length === 0 ? {} : { context: joined.join('\n\n') }),
    ...(wish === 'allow' && !reading.mayAllow ? { ignoredAllow: true } : {}),
    ...(line === '' ? {} : { message: line }),
  };
}

function findOutcome(said: {
  readonly refusal: Partial<Refusal>;
  readonly isUsable: boolean;
  readonly endsTask: boolean;
}): HookReply['outcome'] {
  if (said.refusal.outcome === 'blocked' || said.endsTask) return 'blocked';
  return said.isUsable ? (said.refusal.outcome ?? 'ok') : 'failed';
}

/** The decisions about a call outside of `hookSpecificOutput`: Claude Code's old words and those of Gemini CLI. */
const OLD_DECISIONS: Readonly<Record<string, 'allow' | 'deny'>> = {
  approve: 'allow',
  allow: 'allow',
  block: 'deny',
  deny: 'deny',
};

/** The names that Gemini CLI has for events, for hooks that were imported from it. */
const GEMINI_EVENTS: Readonly<Partial<Record<HookEventName, string>>> = {
  PreToolUse: 'BeforeTool',
  PostToolUse: 'AfterTool',
  UserPromptSubmit: 'BeforeAgent',
  Stop: 'AfterAgent',
  PreCompact: 'PreCompress',
};

function readVerdict(
  wish: 'allow' | 'ask' | 'deny' | undefined,
  { mayAllow }: HookReading,
): 'allow' | 'ask' | undefined {
  if (wish === 'ask') return 'ask';
  return wish === 'allow' && mayAllow ? 'allow' : undefined;
}

/** Returns the reason to end the task; undefined if it may go on. A value of `continue` that is no flag says nothing. */
function readStop(fields: ReplyReader): string | undefined {
  const goesOn = fields.flag('continue');
  const reason = fields.text('stopReason');
  return goesOn === false ? (reason ?? 'A hook ended the task.') : undefined;
}

type Refusal = Pick<HookReply, 'outcome' | 'verdict' | 'block' | 'context' | 'message'>;

function refuse(event: HookEventName, reason: string): Refusal {
  const kind = REFUSALS[event];
  switch (kind) {
    case 'verdict':
      return { outcome: 'blocked', verdict: { verdict: 'deny', reason } };
    case 'block':
      return { outcome: 'blocked', block: reason };
    case 'context':
      return { outcome: 'ok', context: reason };
    case 'nothing':
      return { outcome: 'failed', message: cleanMessage([reason]) };
    default:
      return kind satisfies never;
  }
}

function fail(code: number | null, reason: string): HookReply {
  return { outcome: 'failed', code, message: cleanMessage([reason]) };
}

function addNotice(reply: HookReply, notice: string | undefined): HookReply {
  if (notice === undefined) return reply;
  return {
    ...reply,
    message: cleanMessage([notice, ...(reply.message === undefined ? [] : [reply.message])]),
  };
}

interface LimitedContext {
  readonly context?: string;
  readonly message?: string;
}

/** Cuts a text for the model to the limit, with a note for people if it was too long. */
export function limitContext(text: string): LimitedContext {
  const clean = sanitizeForTerminal(text, 'plain');
  const context = truncate(clean, MAX_CONTEXT);
  if (context === clean) return { context };
  const message = `its context was cut to ${MAX_CONTEXT} characters (limit hook_context_characters = ${MAX_CONTEXT})`;
  return { context: `${context}\n[${message}]`, message };
}

function cleanReason(text: string): string {
  return truncate(sanitizeForTerminal(text.trim(), 'plain'), MAX_REASON);
}

function cleanMessage(parts: readonly string[]): string {
  return truncate(sanitizeLine(parts.join('; ')), MAX_MESSAGE);
}
