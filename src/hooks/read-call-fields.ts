import type { JsonObject } from '../base/json.ts';
import type { HookEventName } from '../protocol/hook.ts';
import { ReplyReader } from './reply-reader.ts';

/** The fields about a call, or about another moment that a hook may refuse in the same way. */
export interface CallFields {
  readonly verdict?: 'allow' | 'ask' | 'deny' | undefined;
  readonly reason?: string | undefined;
  readonly updatedInput?: JsonObject | undefined;
  /** True if the task has to end as well. */
  readonly interrupts: boolean;
}

/** Reads the fields of an event of a call, of a change of the model or of a question of an MCP server. Adds notes for people. */
export function readCallFields(
  own: ReplyReader,
  event: HookEventName,
  notes: string[],
): CallFields {
  if (event === 'PreToolUse') {
    const said = own.choice('permissionDecision', ['allow', 'ask', 'deny', 'defer']);
    if (said === 'defer') notes.push('it wanted to defer the decision, so a person is asked');
    return {
      verdict: said === 'defer' ? 'ask' : said,
      reason: own.text('permissionDecisionReason'),
      updatedInput: own.object('updatedInput'),
      interrupts: false,
    };
  }
  if (event === 'PreModelSwitch') {
    const verdict = own.choice('permissionDecision', ['allow', 'ask', 'deny']);
    if (verdict === 'ask') notes.push('it wanted a person to be asked, which does not happen here');
    const isDenied = verdict === 'deny';
    const reason = own.text('permissionDecisionReason');
    return { ...(isDenied ? { verdict, reason } : {}), interrupts: false };
  }
  if (event === 'Elicitation' || event === 'ElicitationResult') return readAnswer(own, notes);
  if (event !== 'PermissionRequest') return { interrupts: false };
  const decision = own.object('decision');
  if (decision === undefined) return { interrupts: false };
  const fields = new ReplyReader(decision, 'hookSpecificOutput.decision.');
  const verdict = fields.choice('behavior', ['allow', 'deny']);
  const result = {
    verdict,
    reason: fields.text('message'),
    updatedInput: fields.object('updatedInput'),
    interrupts: fields.flag('interrupt') === true && verdict === 'deny',
  };
  if (decision['updatedPermissions'] !== undefined)
    notes.push('it wanted to change permission rules, which no hook can do');
  own.problems.push(...fields.problems);
  return result;
}

/** Reads the answer of a hook to an MCP server. A hook may decline for the person, and answers nothing else. */
function readAnswer(own: ReplyReader, notes: string[]): CallFields {
  const action = own.choice('action', ['accept', 'decline', 'cancel']);
  own.object('content');
  if (action === 'accept') notes.push('it answered the server, which only a person may do');
  return {
    ...(action === 'decline' || action === 'cancel' ? { verdict: 'deny' } : {}),
    interrupts: false,
  };
}
