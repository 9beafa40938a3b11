import { expandToolName } from '../../protocol/tool-aliases.ts';
import type { PermissionEntry } from './entries.ts';

/** The tools that a permission concerns. */
export interface PermissionSubject {
  readonly name: string;
  readonly tools: readonly string[];
  /** The tool that rules for it name. */
  readonly rule: string;
  readonly kind: PatternKind;
  /** Whether only entries with exactly this name concern it. */
  readonly exact: boolean;
}

const KINDS: ReadonlyMap<string, PatternKind> = new Map<string, PatternKind>([
  ['edit', 'path'],
  ['read', 'path'],
  ['list', 'path'],
  ['glob', 'other'],
  ['grep', 'other'],
  ['bash', 'command'],
  ['task', 'name'],
  ['skill', 'name'],
  ['webfetch', 'url'],
  ['websearch', 'other'],
  ['todowrite', 'other'],
  ['question', 'other'],
]);

/** The newer names of two of them. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['shell', 'bash'],
  ['subagent', 'task'],
]);

/** Permissions for which Muster has no tool, or always asks a person. */
const WITHOUT_TOOL: ReadonlySet<string> = new Set(
  'codesearch doom_loop external_directory lsp model_override plan_enter plan_exit'.split(' '),
);

/** Replaces newer names of permissions by the older ones. */
export function withOlderNames(entries: readonly PermissionEntry[]): readonly PermissionEntry[] {
  return entries.map(({ permission, pattern, action, whole }) => ({
    permission: RENAMED.get(permission) ?? permission.replace(/^\*+$/, '*'),
    pattern,
    action,
    whole,
  }));
}

/** Returns the known permissions and those that name a tool. `others` are names that may belong to servers. */
export function permissionSubjects(
  entries: readonly PermissionEntry[],
  vendor: string,
): { readonly subjects: readonly PermissionSubject[]; readonly others: readonly string[] } {
  const known = [...KINDS.keys()].map((name) => subject(name, vendor, { exact: false }));
  const names = [...new Set(entries.map(({ permission }) => permission))].filter(
    (name) => name !== '*' && !KINDS.has(name) && !WITHOUT_TOOL.has(name),
  );
  const named = names
    .map((name) => subject(name, vendor, { exact: true }))
    .filter(({ tools }) => tools.length > 0);
  return {
    subjects: [...known, ...named],
    others: names.filter((name) => !named.some((each) => each.name === name)),
  };
}

function subject(
  name: string,
  vendor: string,
  { exact }: { readonly exact: boolean },
): PermissionSubject {
  const tools = name === 'edit' ? ['Edit', 'Write'] : (expandToolName(name, vendor) ?? []);
  const changes = tools.some((tool) => ['Write', 'Edit', 'MultiEdit'].includes(tool));
  return {
    name,
    tools: changes ? ['Edit', 'Write'] : tools,
    rule: changes ? 'Edit' : (tools[0] ?? ''),
    kind: KINDS.get(name) ?? (changes ? 'path' : 'other'),
    exact,
  };
}

/** The kind of value that the patterns of a permission match. */
type PatternKind = 'command' | 'path' | 'url' | 'name' | 'other';

/**
 * Translates a vendor's pattern, in which `*` matches any text and `?` any character, both including `/`, into
 * specifiers of permission rules. Together they match everything that the pattern matches, and perhaps more, so
 * they are only for rules that ask or deny. Undefined: no specifier can express it.
 */
export function ruleSpecifiers(pattern: string, kind: PatternKind): readonly string[] | undefined {
  switch (kind) {
    case 'command':
      return [commandSpecifier(pattern)];
    case 'path':
      return pathSpecifiers(pattern);
    case 'url': {
      const host = /^https?:\/\/([\w-]+(?:\.[\w-]+)*)(?:[/:]|$)/i.exec(pattern)?.[1];
      return host === undefined ? undefined : [`domain:${host}`];
    }
    case 'name':
      return [oneStar(pattern.replaceAll(/[?()\\]/g, '*').trim())];
    case 'other':
      return undefined;
  }
}

/** Characters that have no special meaning in a shell. */
const PLAIN_COMMAND = /^[\w ./:@%+,*-]*$/;

/** The vendor matches the text of a command, and rules match its words: a pattern that is not plain words is looked for in the line. */
function commandSpecifier(pattern: string): string {
  const glob = oneStar(
    pattern
      .replace(/^~/, '*')
      .replaceAll('?', '*')
      .replaceAll(/\s{2,}/g, '*')
      .trim(),
  );
  if (!PLAIN_COMMAND.test(glob)) return oneStar(`*${glob.replaceAll(/[()\\\s]+/g, '*')}*`);
  const head = /^(.*) \*$/.exec(glob)?.[1];
  // `git push *` also matches a command without further arguments, but not when there is another star.
  if (head !== undefined) return head.includes('*') ? `${head}*` : glob;
  return glob.replace(/:\*$/, '*');
}

/**
 * In a rule, `*` stops at a `/`; in the vendor's pattern it does not. The vendor's relative paths may start above
 * the workspace, so the rule may match anywhere.
 */
function pathSpecifiers(pattern: string): readonly string[] | undefined {
  const path = pattern
    .trim()
    .replace(/^\.\//, '')
    .replaceAll(/[?()[\]{}\\!#\s]/g, '*')
    .replaceAll(/\*+/g, '*')
    .replaceAll(/\*(?:\/\*)+/g, '*');
  if (path.split('/').includes('..') || /^[*/~]*$/.test(path)) return undefined;
  const { anchor, rest } = anchored(path);
  const stars = rest.split('*').length - 1;
  if (stars === 0) return [anchor + rest];
  if (stars > 1) return containing(rest);
  const [before = '', after = ''] = rest.split('*');
  if (after === '') return [`${anchor}${before}*`];
  if (before === '') return [`${anchor.replace(/\*\*\/$/, '')}**/*${after}`];
  if (before.endsWith('/')) return [`${anchor}${before}**/*${after}`];
  return [`${anchor}${before}*${after}`, `${anchor}${before}*/**/*${after}`];
}

function anchored(path: string): { readonly anchor: string; readonly rest: string } {
  const inHome = /^(?:~|\$HOME)\/(.*)$/.exec(path)?.[1];
  if (inHome !== undefined) return { anchor: '~/', rest: inHome };
  return path.startsWith('/')
    ? { anchor: '//', rest: path.slice(1) }
    : { anchor: '//**/', rest: path };
}

/** Matches every path that contains the longest part without a wildcard. */
function containing(path: string): readonly string[] | undefined {
  const pieces = path.split(/[*/]/).toSorted((a, b) => b.length - a.length);
  const [longest = ''] = pieces;
  return longest === '' ? undefined : [`//**/*${longest}*`];
}

function oneStar(pattern: string): string {
  return pattern.replaceAll(/\*+/g, '*');
}
