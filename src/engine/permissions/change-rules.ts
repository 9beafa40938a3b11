import { MusterError } from '../../base/errors.ts';
import { parseRules } from '../../policy/rules/rules.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { PermissionRule, RuleList } from '../../protocol/permission.ts';
import type { GrantScope } from '../../protocol/question.ts';
import type { InboxState } from '../../protocol/state/questions.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { LogFold } from '../task/fold-log.ts';
import type { StandingRules } from '../task/inbox.ts';

/** A change of the rules of a conversation by its user, who was not asked a question. */
export interface RuleChange {
  readonly kind: 'add' | 'remove';
  readonly list: RuleList;
  /** The text of the rule. */
  readonly rule: string;
  /** `task` is the conversation with all its tasks. Ask and deny rules have no other scope. */
  readonly scope: GrantScope;
}

/** The source of the rules that a user has set. It is not a path, because rules with a path are saved in a file. */
const SOURCE = { kind: 'answer', where: 'set with /permissions' } as const;

/**
 * Parses the rule of a change as a rule of a file is parsed. Throws MusterError (`INVALID_PARAM`) with the message that a
 * file with this rule would get.
 */
export function parseRuleChange({ list, rule }: Pick<RuleChange, 'list' | 'rule'>): PermissionRule {
  const source = { ...SOURCE, where: '/permissions' };
  const lists = { allow: [], ask: [], deny: [], [list]: [{ text: rule, source }] };
  const { problems, rules } = parseRules(lists);
  const [problem] = problems;
  const [parsed] = rules[list];
  if (problem !== undefined || parsed === undefined) {
    throw new MusterError('INVALID_PARAM', problem?.message ?? `/permissions: no rule: ${rule}`);
  }
  return { ...parsed, source: SOURCE };
}

interface RuleStores {
  /** The store of permanent rules; null if there is none. */
  readonly standing: StandingRules | null;
  /** The working directory, whose project a rule of scope `project` belongs to. */
  readonly directory: string | null;
  /** Removes secrets, as the log does. */
  readonly redact: (text: string) => string;
}

/**
 * Checks a change, carries it out in the store of permanent rules if its scope is not the conversation, and returns the
 * events that record it in the log of the conversation. Throws MusterError and changes nothing if the rule is wrong, if
 * it cannot be kept, or if it is not there to be removed.
 *
 * @param state the state of the conversation; null before it has begun
 */
export function applyRuleChange(
  change: RuleChange,
  state: Pick<InboxState, 'granted' | 'restrictions'> | null,
  { standing, directory, redact }: RuleStores,
): readonly EventBody[] {
  const { kind, list, scope } = change;
  const rule = parseRuleChange(change);
  if (redact(rule.text) !== rule.text) {
    throw invalid('the rule contains a secret, which no log may contain: put the secret elsewhere');
  }
  if (scope !== 'task') {
    if (list !== 'allow') {
      throw invalid(
        `a rule that ${list === 'deny' ? 'denies' : 'asks'} holds for one conversation: write it to permissions.${list} of your configuration to keep it`,
      );
    }
    if (standing === null) throw invalid('permanent rules are not available here');
    if (kind === 'add') standing.add(rule, { scope, directory });
    else if (!standing.remove(rule, { scope, directory })) throw notThere(change);
  } else if (kind === 'remove' && state !== null && !isSetHere(state, { list, rule })) {
    throw notThere(change);
  }
  if (kind === 'remove') return [{ type: 'rule.removed', list, rule, scope, by: 'user' }];
  return list === 'allow'
    ? [{ type: 'rights.granted', rule, scope, by: 'user' }]
    : [{ type: 'rights.restricted', list, rule, by: 'user' }];
}

function isSetHere(
  { granted, restrictions }: Pick<InboxState, 'granted' | 'restrictions'>,
  { list, rule }: { readonly list: RuleList; readonly rule: PermissionRule },
): boolean {
  const rules =
    list === 'allow'
      ? granted.map((each) => each.rule)
      : restrictions.flatMap((each) => (each.list === list ? [each.rule] : []));
  return rules.some(({ tool, specifier }) => tool === rule.tool && specifier === rule.specifier);
}

function invalid(message: string): MusterError {
  return new MusterError('INVALID_PARAM', message);
}

function notThere({ list, rule }: RuleChange): MusterError {
  return new MusterError('NOT_FOUND', `no ${list} rule ${rule} was set there`);
}

/**
 * Records changes of rules in the log of a conversation that no process runs. Throws MusterError (`CONFLICT`) if a process
 * runs it.
 *
 * @param build returns the events for the present state of the conversation
 */
export async function recordInIdleLog(
  store: TaskStore,
  id: string,
  build: (state: TaskState) => readonly EventBody[],
): Promise<void> {
  const fold = new LogFold((visit) => void store.scan(id, visit));
  const log = store.claim(id, fold.add);
  try {
    const { state } = fold;
    if (state === null) throw new MusterError('NOT_FOUND', `the log of task ${id} is damaged`);
    const events = build(state);
    if (events.length > 0) log.append(events);
    await log.sync();
  } finally {
    log.close();
  }
}
