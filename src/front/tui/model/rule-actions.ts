import type { RuleChange, RuleInForce } from '../../../api/index.ts';
import {
  PERMISSION_MODES,
  type PermissionMode,
  type RuleList,
} from '../../../protocol/permission.ts';
import type { GrantScope } from '../../../protocol/question.ts';

/** An action on a rule that is in force. */
export interface RuleAction {
  readonly id: string;
  readonly title: string;
  /** The result in one sentence. */
  readonly help: string;
  readonly effect:
    | { readonly kind: 'change'; readonly changes: readonly RuleChange[] }
    | { readonly kind: 'open'; readonly path: string };
}

/** The scope of the rules that the user can remove; absent for other origins. */
const SCOPES: Readonly<Partial<Record<RuleInForce['origin'], GrantScope>>> = {
  conversation: 'task',
  project: 'project',
  user: 'user',
};

const PLACES: Readonly<Record<GrantScope, string>> = {
  task: 'in this conversation',
  project: 'in this project',
  user: 'in every project',
};

/** Returns where a rule comes from, in words for a list. */
export function originText({ origin, where }: Pick<RuleInForce, 'origin' | 'where'>): string {
  switch (origin) {
    case 'conversation':
      return 'this conversation';
    case 'project':
      return 'this project';
    case 'user':
      return 'every project';
    case 'built-in':
      return 'built in';
    case 'file':
    case 'flag':
    case 'variable':
    case 'definition':
      return where;
  }
}

/** Says what a rule of a list does. */
export function listText(list: RuleList): string {
  switch (list) {
    case 'allow':
      return 'allows the calls that it covers completely, unless a deny or ask rule or a hard rule applies';
    case 'ask':
      return 'asks about every call that it could apply to';
    case 'deny':
      return 'refuses every call that it could apply to';
  }
}

/** Lists what the user can do with a rule. No action widens anything but the allow rules of the user. */
export function ruleActions(rule: RuleInForce): readonly RuleAction[] {
  const { list, origin, text } = rule;
  const scope = SCOPES[origin];
  if (scope !== undefined) {
    return [
      removal(rule, scope),
      ...(list === 'allow' ? moves(text, scope) : []),
      ...(list === 'allow' && scope !== 'task' ? narrowings(rule) : []),
    ];
  }
  return [...narrowings(rule), ...opening(rule)];
}

function removal({ list, text }: RuleInForce, scope: GrantScope): RuleAction {
  return {
    id: 'remove',
    title: 'Remove it',
    help: `${text} is no longer ${LIST_WORDS[list]} ${PLACES[scope]}.`,
    effect: { kind: 'change', changes: [{ kind: 'remove', list, rule: text, scope }] },
  };
}

const LIST_WORDS: Readonly<Record<RuleList, string>> = {
  allow: 'allowed',
  ask: 'asked about',
  deny: 'denied',
};

/** The actions that move an allow rule of the user to another scope. The new rule is added before the old one goes. */
function moves(rule: string, from: GrantScope): readonly RuleAction[] {
  const scopes = (['task', 'project', 'user'] as const).filter((to) => to !== from);
  return scopes.map((to) => ({
    id: `move-${to}`,
    title: to === 'task' ? 'Only in this conversation' : `Always ${PLACES[to]}`,
    help: `${rule} is allowed ${PLACES[to]}, and no longer ${PLACES[from]}.`,
    effect: {
      kind: 'change',
      changes: [
        { kind: 'add', list: 'allow', rule, scope: to },
        { kind: 'remove', list: 'allow', rule, scope: from },
      ],
    },
  }));
}

/** The actions that narrow a rule for this conversation. The rule itself stays as it is. */
function narrowings({ list, text }: RuleInForce): readonly RuleAction[] {
  const narrower: readonly RuleList[] =
    list === 'allow' ? ['ask', 'deny'] : list === 'ask' ? ['deny'] : [];
  return narrower.map((each) => ({
    id: each,
    title: each === 'ask' ? 'Ask about it in this conversation' : 'Deny it in this conversation',
    help: `${text} is ${LIST_WORDS[each]} in this conversation. The rule stays, and has no effect here.`,
    effect: { kind: 'change', changes: [{ kind: 'add', list: each, rule: text, scope: 'task' }] },
  }));
}

/** The action that opens the file of a rule. */
function opening({ origin, where }: RuleInForce): readonly RuleAction[] {
  const path = /^(\/.*?)(?::\d+)?$/.exec(where)?.[1];
  if (origin !== 'file' || path === undefined) return [];
  return [
    {
      id: 'open',
      title: 'Edit the file',
      help: `Opens ${path}. Changes apply after /restart.`,
      effect: { kind: 'open', path },
    },
  ];
}

/** Says in one sentence what changes have done. */
export function describeChanges(changes: readonly RuleChange[]): string {
  const added = changes.find(({ kind }) => kind === 'add');
  const { list, rule, scope } = added ?? changes[0] ?? { list: 'allow', rule: '', scope: 'task' };
  const now = added === undefined ? 'no longer' : 'now';
  return `${rule} is ${now} ${LIST_WORDS[list]} ${PLACES[scope]}`;
}

/** A typed `/permissions` command; `problem` says what is wrong with it. */
export type PermissionsCommand =
  | { readonly kind: 'list' }
  | { readonly kind: 'mode'; readonly mode: PermissionMode }
  | { readonly kind: 'add'; readonly change: RuleChange }
  | { readonly kind: 'remove'; readonly list: RuleList | null; readonly rule: string }
  | { readonly kind: 'problem'; readonly text: string };

const ADD = /^(allow|ask|deny)\s+(?:(project|user)\s+)?(\S[\s\S]*)$/;
const MODE = /^mode\s+(\S+)$/;
const REMOVE = /^remove\s+(?:(allow|ask|deny)\s+)?(\S[\s\S]*)$/;

/** Reads the argument of `/permissions`. The rule itself is checked when it is added. */
export function readPermissionsCommand(argument: string): PermissionsCommand {
  const typed = argument.trim();
  if (typed === '') return { kind: 'list' };
  const [, list, scope, rule] = ADD.exec(typed) ?? [];
  if (list !== undefined && rule !== undefined) {
    const change = { kind: 'add', list: toList(list), rule, scope: toScope(scope) } as const;
    return { kind: 'add', change };
  }
  const [, word] = MODE.exec(typed) ?? [];
  const mode = PERMISSION_MODES.find((each) => each === word);
  if (mode !== undefined) return { kind: 'mode', mode };
  const [, from, removed] = REMOVE.exec(typed) ?? [];
  if (removed !== undefined) {
    return { kind: 'remove', list: from === undefined ? null : toList(from), rule: removed };
  }
  return {
    kind: 'problem',
    text: `type /permissions, /permissions allow|ask|deny RULE, /permissions remove RULE or /permissions mode ${PERMISSION_MODES.join('|')}`,
  };
}

function toList(word: string): RuleList {
  return word === 'allow' || word === 'ask' ? word : 'deny';
}

function toScope(word: string | undefined): GrantScope {
  return word === 'project' || word === 'user' ? word : 'task';
}

/** Finds the rule that a typed removal means. Returns the change, or a text that says why nothing can be removed. */
export function findRemoval(
  rules: readonly RuleInForce[],
  { list, rule }: { readonly list: RuleList | null; readonly rule: string },
): RuleChange | string {
  const same = rules.filter(
    (each) => each.text === rule.trim() && (list === null || each.list === list),
  );
  if (same.length === 0) return `no rule ${rule} is in force here; /permissions lists them`;
  const own = same.flatMap((each) => {
    const scope = SCOPES[each.origin];
    return scope === undefined ? [] : [{ list: each.list, scope }];
  });
  const [first] = own;
  if (first === undefined) {
    const [{ list: word, ...place } = { list, origin: 'flag', where: '' } as const] = same;
    return `the ${word} rule ${rule} is of ${originText(place)}: remove it there, or narrow it here with /permissions ask or deny`;
  }
  if (own.some((each) => each.list !== first.list)) {
    return `there are several rules ${rule}: type /permissions remove ${first.list} ${rule}`;
  }
  return { kind: 'remove', list: first.list, rule: rule.trim(), scope: first.scope };
}
