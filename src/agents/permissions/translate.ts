import { findGrantedTools } from '../../protocol/tool-aliases.ts';
import type { PermissionAction, PermissionEntry } from './entries.ts';
import {
  ruleSpecifiers,
  withOlderNames,
  permissionSubjects,
  type PermissionSubject,
} from './subjects.ts';

/** Permissions in terms of Muster, as far as they narrow what an agent may do. Tools have their canonical names. */
export interface TranslatedPermissions {
  /** The only tools that are allowed. Default: tools that are not named are allowed, too. */
  readonly onlyTools?: readonly string[];
  /** Tools that are denied as a whole. */
  readonly denied: readonly string[];
  /** Names of denied tools of servers. */
  readonly deniedServers: readonly string[];
  /** The texts of rules. */
  readonly rules: { readonly ask: readonly string[]; readonly deny: readonly string[] };
  /** The only agents that it may delegate to. Default: all of them. */
  readonly delegatesTo?: readonly string[];
  /** Permissions that are narrower than written, because rules cannot express them. */
  readonly narrowed: readonly string[];
  /** Names that are denied or asked about and that no tool has. */
  readonly unknown: readonly string[];
}

/** The maximum number of patterns of one tool. With more of them, the tool is treated as a whole. */
const MAX_PATTERNS = 200;

/**
 * Translates entries, of which the last one that matches decides.
 * @param vendor the vendor whose names for tools are used
 */
export function translatePermissions(
  written: readonly PermissionEntry[],
  vendor: string,
): TranslatedPermissions {
  const entries = withOlderNames(written);
  const { subjects, others } = permissionSubjects(entries, vendor);
  const decisions = subjects.map((each) => decide(each, entries));
  const servers = others.map((name) => serverOutcome(name, entries));
  return joined([...decisions, ...servers], {
    everything: baseAction(entries.filter(({ permission }) => permission === '*')),
    offered: decisions.flatMap(({ isDenied, tools }, index) =>
      isDenied || isPartOfTool(subjects[index]?.name ?? '', vendor) ? [] : tools,
    ),
    servers: others.flatMap((name) => allowedServers(name, entries)),
  });
}

/** Whether a name means only a part of the corresponding tool of Muster: allowing the name does not allow the tool. */
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

function decide(about: PermissionSubject, all: readonly PermissionEntry[]): Decided {
  const entries = all.filter(({ permission }) =>
    about.exact ? permission === about.name : matchesWildcards(permission, about.name),
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
    // A tool that is denied except for some patterns is asked about, because a deny rule wins over an allow rule.
    ask: [...(base === 'allow' ? [] : [rule]), ...ruleTexts(about, exceptions, 'ask')],
    deny: ruleTexts(about, exceptions, 'deny'),
  };
  const isNarrowed =
    exceptions.some(({ action }, index) => isLost(action, base, exceptions.slice(0, index))) ||
    [...rules.ask.slice(base === 'allow' ? 0 : 1), ...rules.deny].includes(rule);
  return { ...part, rules, ...(isNarrowed ? { narrowed: [about.name] } : {}) };
}

/** Returns the action where no pattern matches. Without any entry, it is `allow`. */
function baseAction(entries: readonly PermissionEntry[]): PermissionAction {
  return entries.findLast(isForAll)?.action ?? 'allow';
}

function isForAll({ pattern }: PermissionEntry): boolean {
  return /^\*+$/.test(pattern);
}

/** Whether an exception has no effect because something narrower applies. */
function isLost(
  action: PermissionAction,
  base: PermissionAction,
  before: readonly PermissionEntry[],
): boolean {
  if (action === 'deny') return false;
  if (action === 'ask') return base === 'deny';
  return base !== 'allow' || before.some((entry) => entry.action !== 'allow');
}

/** Returns the rules for the exceptions with an action. Where no rule can express a pattern, the rule concerns the whole tool. */
function ruleTexts(
  { rule, kind }: PermissionSubject,
  exceptions: readonly PermissionEntry[],
  wanted: PermissionAction,
): readonly string[] {
  return exceptions
    .filter(({ action }) => action === wanted)
    .flatMap(({ pattern }) => {
      const specifiers = /^[*/]+$/.test(pattern) ? undefined : ruleSpecifiers(pattern, kind);
      return specifiers?.map((specifier) => `${rule}(${specifier})`) ?? [rule];
    });
}

/** Allows delegation only to the agents that are named. It is not known yet which agents a pattern matches. */
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

/** Translates a permission for tools of servers: `NAME_*`, `NAME*`, `NAME_TOOL`. */
function serverOutcome(name: string, entries: readonly PermissionEntry[]): Part {
  const own = entries.filter(({ permission }) => permission === name);
  const asked = own.some(({ action }) => action === 'ask');
  const denied = baseAction(own) === 'deny' || own.some(({ action }) => action === 'deny');
  if (!asked && !denied) return {};
  const servers = mcpToolsOf(name);
  if (servers === undefined) return { unknown: [name] };
  return denied
    ? { deniedServers: servers.names }
    : { rules: { ask: servers.rules, deny: [] }, narrowed: servers.isExact ? [] : [name] };
}

/** Returns the servers that stay where everything else is denied. */
function allowedServers(name: string, all: readonly PermissionEntry[]): readonly string[] {
  const about = all.filter(({ permission }) => permission === name || permission === '*');
  return baseAction(about) === 'deny' ? [] : (mcpToolsOf(name)?.names ?? []);
}

/** Whether two names for tools of servers could mean the same tool. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => name.replace(/\*$/, ''));
  return a !== undefined && b !== undefined && (a.startsWith(b) || b.startsWith(a));
}

interface Whole {
  /** The action for tools that no entry names. */
  readonly everything: PermissionAction;
  readonly offered: readonly string[];
  readonly servers: readonly string[];
}

function joined(parts: readonly Part[], whole: Whole): TranslatedPermissions {
  const { everything, offered, servers } = whole;
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

/** The maximum number of characters of a pattern that can match a permission. */
const MAX_PATTERN = 64;

/** Whether a pattern, in which `*` matches any text and `?` one character, matches a short name. */
function matchesWildcards(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  const first = pattern.search(/[*?]/);
  if (first === -1 || pattern.length > MAX_PATTERN) return false;
  if (!name.startsWith(pattern.slice(0, first))) return false;
  let positions = withStars(pattern, [0]);
  for (const char of name) {
    const next = [...positions].flatMap((position) => {
      const expected = pattern[position];
      if (expected === '*') return [position];
      return expected === char || expected === '?' ? [position + 1] : [];
    });
    positions = withStars(pattern, next);
  }
  return positions.has(pattern.length);
}

/** A star can match nothing, so a position at a star is also a position after it. */
function withStars(pattern: string, at: readonly number[]): ReadonlySet<number> {
  const positions = new Set(at);
  for (const position of positions) if (pattern[position] === '*') positions.add(position + 1);
  return positions;
}

/** The tools of servers that a permission means. */
interface ServerTools {
  /** Names for lists of tools: `mcp__SERVER__*`, `mcp__PREFIX*`. */
  readonly names: readonly string[];
  /** Names for rules, which can only concern whole servers. */
  readonly rules: readonly string[];
  /** Whether the rules concern no more than was written. */
  readonly isExact: boolean;
}

/** The maximum number of parts of a name that are tried as the end of the server's name: no real name has more. */
const MAX_SPLITS = 8;

/**
 * Translates a vendor's name for tools of a server: `SERVER_*`, `SERVER*`, or `SERVER_TOOL`, in which any `_` may be
 * the one between server and tool. Undefined: it cannot belong to a server.
 */
function mcpToolsOf(name: string): ServerTools | undefined {
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
