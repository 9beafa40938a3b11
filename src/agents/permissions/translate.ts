import { findGrantedTools } from '../../protocol/tool-aliases.ts';
import type { PermissionAction, PermissionEntry } from './entries.ts';
import {
  toRuleSpecifiers,
  toOlderNames,
  findPermissionSubjects,
  type PermissionSubject,
} from './subjects.ts';

/** Permissions in Muster's terms, as far as they narrow what an agent may do. Tools have their canonical names. */
export interface TranslatedPermissions {
  /** The only tools that are allowed. Default: tools that are not named are allowed, too. */
  readonly onlyTools?: readonly string[];
  /** The tools whose calls are all denied. */
  readonly denied: readonly string[];
  /** The names of denied tools of MCP servers. */
  readonly deniedServers: readonly string[];
  /** The texts of permission rules. */
  readonly rules: { readonly ask: readonly string[]; readonly deny: readonly string[] };
  /** The only agents to which the agent may delegate. Default: all agents. */
  readonly delegatesTo?: readonly string[];
  /**
   * The names of permissions that became narrower than they are in the file, because rules cannot express them exactly.
   */
  readonly narrowed: readonly string[];
  /** The names of permissions that deny or ask, but that belong to no tool. */
  readonly unknown: readonly string[];
}

/** The maximum number of patterns of one tool. If there are more, the same action applies to all calls of the tool. */
const MAX_PATTERNS = 200;

/**
 * Translates permission entries. For a call, the last matching entry decides.
 *
 * @param vendor the vendor whose names for tools are used
 */
export function translatePermissions(
  written: readonly PermissionEntry[],
  vendor: string,
): TranslatedPermissions {
  const entries = toOlderNames(written);
  const { subjects, others } = findPermissionSubjects(entries, vendor);
  const decisions = subjects.map((each) => translateSubject(each, entries));
  const servers = others.map((name) => translateServer(name, entries));
  return joinParts([...decisions, ...servers], {
    everything: baseAction(entries.filter(({ permission }) => permission === '*')),
    offered: decisions.flatMap(({ isDenied, tools }, index) =>
      isDenied || isPartOfTool(subjects[index]?.name ?? '', vendor) ? [] : tools,
    ),
    servers: others.flatMap((name) => listAllowedServers(name, entries)),
  });
}

/**
 * Returns whether a name means only a part of the corresponding tool in Muster. In this case, allowing the name does
 * not allow the tool.
 */
function isPartOfTool(name: string, vendor: string): boolean {
  return (findGrantedTools(name, vendor) ?? []).some(
    (each) => 'limit' in each || 'isTooWide' in each,
  );
}

type Part = Partial<TranslatedPermissions>;
interface Decided extends Part {
  readonly isDenied: boolean;
  readonly tools: readonly string[];
}

function translateSubject(subject: PermissionSubject, all: readonly PermissionEntry[]): Decided {
  const entries = all.filter(({ permission }) =>
    subject.exact ? permission === subject.name : matchesWildcards(permission, subject.name),
  );
  const { tools, rule } = subject;
  const base = baseAction(entries);
  const exceptions = entries.slice(entries.findLastIndex(isForAll) + 1);
  if (base === 'deny' && exceptions.every(({ action }) => action === 'deny')) {
    const isDeniedCompletely = entries.some((entry) => entry.whole && entry.action === 'deny');
    const isDenied = true;
    return isDeniedCompletely
      ? { tools, isDenied, denied: tools }
      : { tools, isDenied, rules: { ask: [], deny: tools } };
  }
  const part = { tools, isDenied: false };
  if (exceptions.length > MAX_PATTERNS) {
    const denies = base === 'deny' || exceptions.some(({ action }) => action === 'deny');
    const rules = denies ? { ask: [], deny: tools } : { ask: tools, deny: [] };
    return { ...part, rules, narrowed: [subject.name] };
  }
  if (subject.name === 'task' && base === 'deny')
    return { ...part, ...translateDelegation(exceptions) };
  const rules = {
    // A tool that is denied except for some patterns gets an ask rule, because a deny rule would have precedence over
    // an allow rule.
    ask: [...(base === 'allow' ? [] : [rule]), ...createRules(subject, exceptions, 'ask')],
    deny: createRules(subject, exceptions, 'deny'),
  };
  const isNarrowed =
    exceptions.some(({ action }, index) => hasNoEffect(action, base, exceptions.slice(0, index))) ||
    [...rules.ask.slice(base === 'allow' ? 0 : 1), ...rules.deny].includes(rule);
  return { ...part, rules, ...(isNarrowed ? { narrowed: [subject.name] } : {}) };
}

/** Returns the action for calls that no pattern matches. Without entries, it is `allow`. */
function baseAction(entries: readonly PermissionEntry[]): PermissionAction {
  return entries.findLast(isForAll)?.action ?? 'allow';
}

function isForAll({ pattern }: PermissionEntry): boolean {
  return /^\*+$/.test(pattern);
}

/** Returns whether an exception has no effect, because a narrower action applies to its calls. */
function hasNoEffect(
  action: PermissionAction,
  base: PermissionAction,
  before: readonly PermissionEntry[],
): boolean {
  if (action === 'deny') return false;
  if (action === 'ask') return base === 'deny';
  return base !== 'allow' || before.some((entry) => entry.action !== 'allow');
}

/**
 * Returns the rules for the exceptions with an action. If no rule can express a pattern, the rule applies to all calls
 * of the tool.
 */
function createRules(
  { rule, kind }: PermissionSubject,
  exceptions: readonly PermissionEntry[],
  requestedAction: PermissionAction,
): readonly string[] {
  return exceptions
    .filter(({ action }) => action === requestedAction)
    .flatMap(({ pattern }) => {
      const specifiers = /^[*/]+$/.test(pattern) ? undefined : toRuleSpecifiers(pattern, kind);
      return specifiers?.map((specifier) => `${rule}(${specifier})`) ?? [rule];
    });
}

/**
 * Translates permissions for delegation, which allow only the agents in the exceptions. If an exception is a pattern,
 * delegation asks instead, because it is not known which agents the pattern matches.
 */
function translateDelegation(exceptions: readonly PermissionEntry[]): Part {
  const actions = new Map(exceptions.map(({ pattern, action }) => [pattern, action]));
  const named = [...actions].filter(([, action]) => action !== 'deny');
  const isPattern = ([pattern]: readonly [string, PermissionAction]): boolean =>
    /[*?]/.test(pattern);
  const names = named.filter((each) => !isPattern(each));
  const subject = {
    name: 'task',
    tools: ['Task'],
    rule: 'Task',
    kind: 'name',
    exact: false,
  } as const;
  const denied = createRules(subject, exceptions, 'deny');
  if (named.some(isPattern)) {
    return { rules: { ask: ['Task'], deny: denied }, narrowed: ['task'] };
  }
  const asked = createRules(subject, exceptions, 'ask');
  return {
    delegatesTo: names.map(([name]) => name),
    rules: { ask: asked, deny: [...actions].some(isPattern) ? denied : [] },
  };
}

/** Translates a permission for tools of MCP servers: `NAME_*`, `NAME*`, `NAME_TOOL`. */
function translateServer(name: string, entries: readonly PermissionEntry[]): Part {
  const own = entries.filter(({ permission }) => permission === name);
  const asked = own.some(({ action }) => action === 'ask');
  const denied = baseAction(own) === 'deny' || own.some(({ action }) => action === 'deny');
  if (!asked && !denied) return {};
  const servers = toServerTools(name);
  if (servers === undefined) return { unknown: [name] };
  return denied
    ? { deniedServers: servers.names }
    : { rules: { ask: servers.rules, deny: [] }, narrowed: servers.isExact ? [] : [name] };
}

/** Returns the servers' tools that stay allowed if everything else is denied. */
function listAllowedServers(name: string, all: readonly PermissionEntry[]): readonly string[] {
  const subject = all.filter(({ permission }) => permission === name || permission === '*');
  return baseAction(subject) === 'deny' ? [] : (toServerTools(name)?.names ?? []);
}

/** Returns whether two names for tools of MCP servers could mean the same tool. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => name.replace(/\*$/, ''));
  return a !== undefined && b !== undefined && (a.startsWith(b) || b.startsWith(a));
}

/** The data about all permissions together. */
interface PermissionSummary {
  /** The action for tools that no entry names. */
  readonly everything: PermissionAction;
  readonly offered: readonly string[];
  readonly servers: readonly string[];
}

function joinParts(parts: readonly Part[], summary: PermissionSummary): TranslatedPermissions {
  const { everything, offered, servers } = summary;
  const all = <T>(readList: (part: Part) => readonly T[] | undefined): readonly T[] => [
    ...new Set(parts.flatMap((part) => readList(part) ?? [])),
  ];
  const denied = all((part) => part.denied);
  const deniedServers = all((part) => part.deniedServers);
  const remainingTools = [...new Set(offered)].filter((name) => !denied.includes(name));
  const remainingServers = [...new Set(servers)].filter(
    (name) => !deniedServers.some((each) => overlap(each, name)),
  );
  const delegatesTo = parts.find((part) => part.delegatesTo !== undefined)?.delegatesTo;
  return {
    ...(everything === 'deny' ? { onlyTools: [...remainingTools, ...remainingServers] } : {}),
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

/** The maximum length of a pattern for the names of permissions. A longer pattern matches nothing. */
const MAX_PATTERN_LENGTH = 64;

/** Returns whether a pattern matches a short name. `*` matches any text, and `?` matches one character. */
function matchesWildcards(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  const first = pattern.search(/[*?]/);
  if (first === -1 || pattern.length > MAX_PATTERN_LENGTH) return false;
  if (!name.startsWith(pattern.slice(0, first))) return false;
  let positions = addPositionsAfterStars(pattern, [0]);
  for (const char of name) {
    const next = [...positions].flatMap((position) => {
      const expected = pattern[position];
      if (expected === '*') return [position];
      return expected === char || expected === '?' ? [position + 1] : [];
    });
    positions = addPositionsAfterStars(pattern, next);
  }
  return positions.has(pattern.length);
}

/**
 * Adds the positions after stars. A star can match an empty text, so a position before a star is also a position after
 * it.
 */
function addPositionsAfterStars(pattern: string, at: readonly number[]): ReadonlySet<number> {
  const positions = new Set(at);
  for (const position of positions) if (pattern[position] === '*') positions.add(position + 1);
  return positions;
}

/** The tools of MCP servers that a permission means. */
interface ServerTools {
  /** Names for lists of tools: `mcp__SERVER__*`, `mcp__PREFIX*`. */
  readonly names: readonly string[];
  /** Names for rules. */
  readonly rules: readonly string[];
  /** Whether the rules match no more than the permission. */
  readonly isExact: boolean;
}

/**
 * The maximum number of parts of a name between which the end of the server's name is searched for. No real name has
 * more.
 */
const MAX_SPLITS = 8;

/**
 * Translates a vendor's name for tools of an MCP server: `SERVER_*`, `SERVER*`, or `SERVER_TOOL`. In the last form, any
 * `_` may be the separator between server and tool. Returns undefined if the name cannot belong to a server.
 */
function toServerTools(name: string): ServerTools | undefined {
  if (!/^[\w.*?-]+$/.test(name)) return undefined;
  const whole = /^([\w.-]+)_\*$/.exec(name)?.[1];
  if (whole !== undefined) {
    const server = `mcp__${whole}__*`;
    return { names: [server], rules: [server], isExact: true };
  }
  const prefix = /^([\w.-]+)\*$/.exec(name)?.[1];
  if (prefix !== undefined) {
    return { names: [`mcp__${prefix}*`], rules: ['mcp__*'], isExact: false };
  }
  if (/[*?]/.test(name)) return { names: ['mcp__*'], rules: ['mcp__*'], isExact: false };
  const parts = name.split('_');
  if (parts.length < 2) return undefined;
  if (parts.length > MAX_SPLITS) return { names: ['mcp__*'], rules: ['mcp__*'], isExact: false };
  const names = parts
    .slice(1)
    .map((_, at) => [parts.slice(0, at + 1), parts.slice(at + 1)].map((part) => part.join('_')))
    .filter(([server, tool]) => server !== '' && tool !== '')
    .map(([server, tool]) => `mcp__${server ?? ''}__${tool ?? ''}`);
  return names.length === 0 ? undefined : { names, rules: names, isExact: true };
}
