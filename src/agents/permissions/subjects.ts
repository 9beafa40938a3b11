import { expandToolWord } from '../../protocol/tool-aliases.ts';
import type { PermissionEntry } from './entries.ts';
import type { PatternKind } from './patterns.ts';

/** What a permission is about. */
export interface Subject {
  readonly name: string;
  readonly tools: readonly string[];
  /** The tool that a rule names. */
  readonly rule: string;
  readonly kind: PatternKind;
  /** Whether only what names it in full is about it. */
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

/** Newer words for two of them. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['shell', 'bash'],
  ['subagent', 'task'],
]);

/** Permissions for what Muster has no tool for, or asks a person about whatever a file says. */
const WITHOUT_TOOL: ReadonlySet<string> = new Set(
  'codesearch doom_loop external_directory lsp model_override plan_enter plan_exit'.split(' '),
);

/** The entries with the older words in place of newer ones. */
export function renamed(entries: readonly PermissionEntry[]): readonly PermissionEntry[] {
  return entries.map(({ permission, pattern, action, whole }) => ({
    permission: RENAMED.get(permission) ?? permission.replace(/^\*+$/, '*'),
    pattern,
    action,
    whole,
  }));
}

/** All that permissions are known for and what else the entries name a tool by; `others` may be servers'. */
export function subjectsOf(
  entries: readonly PermissionEntry[],
  vendor: string,
): { readonly subjects: readonly Subject[]; readonly others: readonly string[] } {
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

function subject(name: string, vendor: string, { exact }: { readonly exact: boolean }): Subject {
  const tools = name === 'edit' ? ['Edit', 'Write'] : (expandToolWord(name, vendor) ?? []);
  const changes = tools.some((tool) => ['Write', 'Edit', 'MultiEdit'].includes(tool));
  return {
    name,
    tools: changes ? ['Edit', 'Write'] : tools,
    rule: changes ? 'Edit' : (tools[0] ?? ''),
    kind: KINDS.get(name) ?? (changes ? 'path' : 'other'),
    exact,
  };
}
