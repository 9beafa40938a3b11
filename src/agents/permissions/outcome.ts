import { grantedTools } from '../../protocol/tool-aliases.ts';
import { mcpNamesOf } from './servers.ts';
import type { PermissionAction, PermissionEntry } from './entries.ts';
import { specifiersOf } from './patterns.ts';
import { renamed, subjectsOf, type Subject } from './subjects.ts';
import { matchesName } from './wildcard-name.ts';

/** What permissions come to here: what is narrower than nothing said. Tools by their canonical names. */
export interface PermissionOutcome {
  /** Set where everything that is not named is denied. */
  readonly onlyTools?: readonly string[];
  /** Denied as a whole, in one word. */
  readonly denied: readonly string[];
  /** Names for tools of servers that are denied. */
  readonly deniedServers: readonly string[];
  /** Texts of rules. */
  readonly rules: { readonly ask: readonly string[]; readonly deny: readonly string[] };
  /** The agents that may be delegated to, where only some may. */
  readonly delegatesTo?: readonly string[];
  /** Permissions of which less is left than was written, since rules here cannot say it. */
  readonly narrowed: readonly string[];
  /** Names that are denied or asked about and that nothing here has. */
  readonly unknown: readonly string[];
}

/** Patterns of one tool; of more, the tool as a whole is meant. */
const MAX_PATTERNS = 200;

/** Entries in the order in which they stand: the last that matches decides. `vendor`: whose tool names. */
export function permissionOutcome(
  written: readonly PermissionEntry[],
  vendor: string,
): PermissionOutcome {
  const entries = renamed(written);
  const { subjects, others } = subjectsOf(entries, vendor);
  const decisions = subjects.map((each) => decide(each, entries));
  const servers = others.map((name) => serverOutcome(name, entries));
  return joined([...decisions, ...servers], {
    everything: baseAction(entries.filter(({ permission }) => permission === '*')),
    offered: decisions.flatMap(({ isDenied, tools }, index) =>
      isDenied || isLess(subjects[index]?.name ?? '', vendor) ? [] : tools,
    ),
    servers: others.flatMap((name) => allowedServers(name, entries)),
  });
}

/** Whether a name means less than the tool of Muster that stands for it: to allow it allows no such tool. */
function isLess(name: string, vendor: string): boolean {
  return (grantedTools(name, vendor) ?? []).some((each) => 'limit' in each || 'isTooWide' in each);
}

type Part = Partial<PermissionOutcome>;
interface Decided extends Part {
  readonly isDenied: boolean;
  readonly tools: readonly string[];
}

function decide(about: Subject, all: readonly PermissionEntry[]): Decided {
  const entries = all.filter(({ permission }) =>
    about.exact ? permission === about.name : matchesName(permission, about.name),
  );
  const { tools, rule } = about;
  const base = baseAction(entries);
  const exceptions = entries.slice(entries.findLastIndex(isForAll) + 1);
  if (base === 'deny' && exceptions.every(({ action }) => action === 'deny')) {
    const inOneWord = entries.some((entry) => entry.whole && entry.action === 'deny');
    const isDenied = true;
    return inOneWord
      ? { tools, isDenied, denied: tools }
      : { tools, isDenied, rules: { ask: [], deny: tools } };
  }
  const part = { tools, isDenied: false };
  if (exceptions.length > MAX_PATTERNS) {
    const denies = base === 'deny' || exceptions.some(({ action }) => action === 'deny');
    const rules = denies ? { ask: [], deny: tools } : { ask: tools, deny: [] };
    return { ...part, rules, narrowed: [about.name] };
  }
  if (about.name === 'task' && base === 'deny') return { ...part, ...namedAgents(exceptions) };
  const rules = {
    // What is denied but for some patterns is asked about: a rule that denies beats one that allows.
    ask: [...(base === 'allow' ? [] : [rule]), ...ruleTexts(about, exceptions, 'ask')],
    deny: ruleTexts(about, exceptions, 'deny'),
  };
  const isNarrowed =
    exceptions.some(({ action }, index) => isLost(action, base, exceptions.slice(0, index))) ||
    [...rules.ask.slice(base === 'allow' ? 0 : 1), ...rules.deny].includes(rule);
  return { ...part, rules, ...(isNarrowed ? { narrowed: [about.name] } : {}) };
}

/** The action where no pattern matches; without any entry it is allowed. */
function baseAction(entries: readonly PermissionEntry[]): PermissionAction {
  return entries.findLast(isForAll)?.action ?? 'allow';
}

function isForAll({ pattern }: PermissionEntry): boolean {
  return /^\*+$/.test(pattern);
}

/** Whether an exception has no effect here, since something narrower holds. */
function isLost(
  action: PermissionAction,
  base: PermissionAction,
  before: readonly PermissionEntry[],
): boolean {
  if (action === 'deny') return false;
  if (action === 'ask') return base === 'deny';
  return base !== 'allow' || before.some((entry) => entry.action !== 'allow');
}

/** The whole tool where no rule can say the pattern. */
function ruleTexts(
  { rule, kind }: Subject,
  exceptions: readonly PermissionEntry[],
  wanted: PermissionAction,
): readonly string[] {
  return exceptions
    .filter(({ action }) => action === wanted)
    .flatMap(({ pattern }) => {
      const specifiers = /^[*/]+$/.test(pattern) ? undefined : specifiersOf(pattern, kind);
      return specifiers?.map((specifier) => `${rule}(${specifier})`) ?? [rule];
    });
}

/** Of agents only those that are named may be delegated to; which ones a pattern means is not known yet. */
function namedAgents(exceptions: readonly PermissionEntry[]): Part {
  const actions = new Map(exceptions.map(({ pattern, action }) => [pattern, action]));
  const named = [...actions].filter(([, action]) => action !== 'deny');
  const isPattern = ([pattern]: readonly [string, PermissionAction]): boolean =>
    /[*?]/.test(pattern);
  const names = named.filter((each) => !isPattern(each));
  const about = {
    name: 'task',
    tools: ['Task'],
    rule: 'Task',
    kind: 'name',
    exact: false,
  } as const;
  const denied = ruleTexts(about, exceptions, 'deny');
  if (named.some(isPattern)) {
    return { rules: { ask: ['Task'], deny: denied }, narrowed: ['task'] };
  }
  const asked = ruleTexts(about, exceptions, 'ask');
  return {
    delegatesTo: names.map(([name]) => name),
    rules: { ask: asked, deny: [...actions].some(isPattern) ? denied : [] },
  };
}

/** A permission for tools of servers: `NAME_*`, `NAME*`, `NAME_TOOL`. */
function serverOutcome(name: string, entries: readonly PermissionEntry[]): Part {
  const own = entries.filter(({ permission }) => permission === name);
  const asked = own.some(({ action }) => action === 'ask');
  const denied = baseAction(own) === 'deny' || own.some(({ action }) => action === 'deny');
  if (!asked && !denied) return {};
  const servers = mcpNamesOf(name);
  if (servers === undefined) return { unknown: [name] };
  return denied
    ? { deniedServers: servers.names }
    : { rules: { ask: servers.rules, deny: [] }, narrowed: servers.isExact ? [] : [name] };
}

/** The servers that stay where everything else is denied. */
function allowedServers(name: string, all: readonly PermissionEntry[]): readonly string[] {
  const about = all.filter(({ permission }) => permission === name || permission === '*');
  return baseAction(about) === 'deny' ? [] : (mcpNamesOf(name)?.names ?? []);
}

/** Whether two names for tools of servers could mean one tool. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => name.replace(/\*$/, ''));
  return a !== undefined && b !== undefined && (a.startsWith(b) || b.startsWith(a));
}

interface Whole {
  /** What happens to a tool that nothing names. */
  readonly everything: PermissionAction;
  readonly offered: readonly string[];
  readonly servers: readonly string[];
}

function joined(
  parts: readonly Part[],
  { everything, offered, servers }: Whole,
): PermissionOutcome {
  const all = <T>(of: (part: Part) => readonly T[] | undefined): readonly T[] => [
    ...new Set(parts.flatMap((part) => of(part) ?? [])),
  ];
  const denied = all((part) => part.denied);
  const deniedServers = all((part) => part.deniedServers);
  const stays = [...new Set(offered)].filter((name) => !denied.includes(name));
  const serversLeft = [...new Set(servers)].filter(
    (name) => !deniedServers.some((each) => overlap(each, name)),
  );
  const delegatesTo = parts.find((part) => part.delegatesTo !== undefined)?.delegatesTo;
  return {
    ...(everything === 'deny' ? { onlyTools: [...stays, ...serversLeft] } : {}),
    denied: everything === 'deny' ? [] : denied,
    deniedServers,
    rules: {
      ask: [...all((part) => part.rules?.ask), ...(everything === 'ask' ? ['mcp__*'] : [])],
      deny: all((part) => part.rules?.deny),
    },
    ...(delegatesTo === undefined ? {} : { delegatesTo }),
    narrowed: all((part) => part.narrowed),
    unknown: all((part) => part.unknown),
  };
}
