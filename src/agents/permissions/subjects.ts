import { TEXT_EDITING_TOOLS } from '../../protocol/file-tools.ts';
import { expandToolName } from '../../protocol/tool-aliases.ts';
import type { PermissionEntry } from './entries.ts';

/** A permission and the tools that it concerns. */
export interface PermissionSubject {
  readonly name: string;
  readonly tools: readonly string[];
  /** The tool that permission rules for this permission name. */
  readonly rule: string;
  readonly kind: PatternKind;
  /** Whether only entries with exactly this name apply to it. Otherwise, entries with wildcards apply, too. */
  readonly exact: boolean;
}

/** The kind of pattern of each known permission. */
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

/** The newer names of two permissions, with their older names. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['shell', 'bash'],
  ['subagent', 'task'],
]);

/** The permissions for which Muster has no tool, or for which it always asks a person. */
const WITHOUT_TOOL: ReadonlySet<string> = new Set(
  'codesearch doom_loop external_directory lsp model_override plan_enter plan_exit'.split(' '),
);

/** Replaces newer names of permissions by the older ones. */
export function toOlderNames(entries: readonly PermissionEntry[]): readonly PermissionEntry[] {
  return entries.map(({ permission, pattern, action, whole }) => ({
    permission: RENAMED.get(permission) ?? permission.replace(/^\*+$/, '*'),
    pattern,
    action,
    whole,
  }));
}

/**
 * Returns the known permissions, and the permissions in the entries that name a tool. `others` are the remaining names,
 * which may belong to MCP servers.
 */
export function findPermissionSubjects(
  entries: readonly PermissionEntry[],
  vendor: string,
): { readonly subjects: readonly PermissionSubject[]; readonly others: readonly string[] } {
  const known = [...KINDS.keys()].map((name) => createSubject(name, vendor, { exact: false }));
  const names = [...new Set(entries.map(({ permission }) => permission))].filter(
    (name) => name !== '*' && !KINDS.has(name) && !WITHOUT_TOOL.has(name),
  );
  const named = names
    .map((name) => createSubject(name, vendor, { exact: true }))
    .filter(({ tools }) => tools.length > 0);
  return {
    subjects: [...known, ...named],
    others: names.filter((name) => !named.some((each) => each.name === name)),
  };
}

function createSubject(
  name: string,
  vendor: string,
  { exact }: { readonly exact: boolean },
): PermissionSubject {
  const tools = name === 'edit' ? ['Edit', 'Write'] : (expandToolName(name, vendor) ?? []);
  const changesFiles = tools.some((tool) => TEXT_EDITING_TOOLS.includes(tool));
  return {
    name,
    tools: changesFiles ? ['Edit', 'Write'] : tools,
    rule: changesFiles ? 'Edit' : (tools[0] ?? ''),
    kind: KINDS.get(name) ?? (changesFiles ? 'path' : 'other'),
    exact,
  };
}

/** The kind of value that the patterns of a permission match. */
type PatternKind = 'command' | 'path' | 'url' | 'name' | 'other';

/**
 * Translates a vendor's pattern into specifiers of permission rules. In the pattern, `*` matches any text and `?` any
 * character, both including `/`. Together, the specifiers match everything that the pattern matches, and perhaps more,
 * so they are used only in rules that ask or deny. Returns undefined if no specifier can express the pattern.
 */
export function toRuleSpecifiers(
  pattern: string,
  kind: PatternKind,
): readonly string[] | undefined {
  switch (kind) {
    case 'command':
      return [toCommandSpecifier(pattern)];
    case 'path':
      return toPathSpecifiers(pattern);
    case 'url': {
      const host = /^https?:\/\/([\w-]+(?:\.[\w-]+)*)(?:[/:]|$)/i.exec(pattern)?.[1];
      return host === undefined ? undefined : [`domain:${host}`];
    }
    case 'name':
      return [mergeStars(pattern.replaceAll(/[?()\\]/g, '*').trim())];
    case 'other':
      return undefined;
  }
}

/** Characters that have no special meaning in a shell. */
const PLAIN_COMMAND = /^[\w ./:@%+,*-]*$/;

/**
 * Translates a pattern for commands. The vendor matches the text of a command, but rules match its words. A pattern
 * that is not plain words becomes a specifier that matches every command line with a similar text.
 */
function toCommandSpecifier(pattern: string): string {
  const glob = mergeStars(
    pattern
      .replace(/^~/, '*')
      .replaceAll('?', '*')
      .replaceAll(/\s{2,}/g, '*')
      .trim(),
  );
  if (!PLAIN_COMMAND.test(glob)) return mergeStars(`*${glob.replaceAll(/[()\\\s]+/g, '*')}*`);
  const head = /^(.*) \*$/.exec(glob)?.[1];
  // A specifier such as `git push *` also matches a command without further arguments, but not if it has another star.
  if (head !== undefined) return head.includes('*') ? `${head}*` : glob;
  return glob.replace(/:\*$/, '*');
}

/**
 * Translates a pattern for paths. In a rule, `*` does not match `/`, but in the vendor's pattern it does. The vendor's
 * relative paths may be relative to a directory above the workspace, so the specifiers match in any directory.
 */
function toPathSpecifiers(pattern: string): readonly string[] | undefined {
  const path = pattern
    .trim()
    .replace(/^\.\//, '')
    .replaceAll(/[?()[\]{}\\!#\s]/g, '*')
    .replaceAll(/\*+/g, '*')
    .replaceAll(/\*(?:\/\*)+/g, '*');
  if (path.split('/').includes('..') || /^[*/~]*$/.test(path)) return undefined;
  const { anchor, rest } = splitAnchor(path);
  const stars = rest.split('*').length - 1;
  if (stars === 0) return [anchor + rest];
  if (stars > 1) return matchLongestPart(rest);
  const [before = '', after = ''] = rest.split('*');
  if (after === '') return [`${anchor}${before}*`];
  if (before === '') return [`${anchor.replace(/\*\*\/$/, '')}**/*${after}`];
  if (before.endsWith('/')) return [`${anchor}${before}**/*${after}`];
  return [`${anchor}${before}*${after}`, `${anchor}${before}*/**/*${after}`];
}

function splitAnchor(path: string): { readonly anchor: string; readonly rest: string } {
  const inHome = /^(?:~|\$HOME)\/(.*)$/.exec(path)?.[1];
  if (inHome !== undefined) return { anchor: '~/', rest: inHome };
  return path.startsWith('/')
    ? { anchor: '//', rest: path.slice(1) }
    : { anchor: '//**/', rest: path };
}

/** Returns a specifier that matches every path that contains the longest part of a pattern without a wildcard. */
function matchLongestPart(path: string): readonly string[] | undefined {
  const pieces = path.split(/[*/]/).toSorted((a, b) => b.length - a.length);
  const [longest = ''] = pieces;
  return longest === '' ? undefined : [`//**/*${longest}*`];
}

function mergeStars(pattern: string): string {
  return pattern.replaceAll(/\*+/g, '*');
}
