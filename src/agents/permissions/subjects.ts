import { expandToolWord } from '../../protocol/tool-aliases.ts';
import type { PermissionEntry } from './entries.ts';
import type { PatternKind } from './specifiers.ts';

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
