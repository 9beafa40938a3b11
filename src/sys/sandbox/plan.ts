import { isInside } from '../files/paths.ts';

/** The access of a sandboxed command to a path and everything below it. Paths without a rule are read-only. */
export interface PathRule {
  readonly kind:
    | 'private' // an empty directory of its own, gone with it
    | 'shown' // as it is, read-only, also below something private
    | 'writable' // as it is
    | 'held' // writable, and can't be moved away
    | 'protected' // as it is, read-only, below something writable
    | 'absent' // not there, and can't be made, where the sandbox can hold that
    | 'hidden' // a directory without its contents
    | 'masked'; // a file or socket that can't be opened
  /** Absolute and real. */
  readonly path: string;
}

/** Protected paths: rules for the ones that exist, and the ones that must not be created. */
export interface GuardedPaths {
  readonly rules: readonly PathRule[];
  /** Absolute paths that do not exist. */
  readonly missing: readonly string[];
}

/** The confinement of one command, independent of the kind of sandbox. */
export interface SandboxPlan {
  /** At most one rule for each path; parents come before their children. */
  readonly rules: readonly PathRule[];
  /** A directory that the command may always write to: its TMPDIR. */
  readonly scratch: string;
  readonly network: boolean;
  readonly cwd: string;
  /**
   * True if the command runs as root, who owns the files that configure the kernel, with or without
   * capabilities.
   */
  readonly asRoot: boolean;
}

/** The kinds of rules by strength. If there are several rules for one path, the last in this order wins. */
const STRENGTH: readonly PathRule['kind'][] = [
  'private',
  'shown',
  // A writable root is a mount, so it cannot be moved in any case.
  'held',
  'writable',
  'protected',
  'absent',
  'hidden',
  'masked',
];

/** Kinds of rules below which nothing of the host exists. */
const EMPTY: ReadonlySet<PathRule['kind']> = new Set(['private', 'absent', 'hidden', 'masked']);
const WRITABLE: ReadonlySet<PathRule['kind']> = new Set(['writable', 'held']);

/**
 * Returns the rules in the order in which they are applied over one another, without the ones that change
 * nothing: only writable paths are protected, and only visible ones are hidden. The directories above such a
 * path cannot be renamed, because a rename would move the path along and free its name.
 */
export function layerRules(rules: readonly PathRule[]): readonly PathRule[] {
  const laid = layOver(rules);
  return layOver([...laid, ...laid.flatMap((rule) => wayTo(rule, laid))]);
}

function wayTo({ kind, path }: PathRule, laid: readonly PathRule[]): readonly PathRule[] {
  // For a path that does not exist, nothing could be moved.
  if (WRITABLE.has(kind) || kind === 'absent') return [];
  const above = holding(parentOf(path) ?? '/', laid);
  if (above === undefined || !WRITABLE.has(above.kind)) return [];
  const way: PathRule[] = [];
  for (let at = parentOf(path); at !== undefined && at !== above.path; at = parentOf(at)) {
    way.push({ kind: 'held', path: at });
  }
  return way;
}

function layOver(rules: readonly PathRule[]): readonly PathRule[] {
  const byPath = new Map<string, PathRule>();
  for (const rule of rules) {
    const other = byPath.get(rule.path);
    if (other === undefined || strength(other) < strength(rule)) byPath.set(rule.path, rule);
  }
  const laid = new Map<string, PathRule>();
  const fromTheTop = [...byPath.values()].toSorted(
    (a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1),
  );
  for (const rule of fromTheTop) {
    if (changes(rule, ruleAbove(rule.path, laid))) laid.set(rule.path, rule);
  }
  return [...laid.values()];
}

function changes({ kind }: PathRule, above: PathRule | undefined): boolean {
  const isEmpty = above !== undefined && EMPTY.has(above.kind);
  switch (kind) {
    case 'writable':
      return true;
    case 'shown':
      return isEmpty;
    case 'held':
    case 'protected':
    case 'absent':
      return above !== undefined && WRITABLE.has(above.kind);
    case 'private':
    case 'hidden':
    case 'masked':
      return !isEmpty;
  }
}

function ruleAbove(path: string, rules: ReadonlyMap<string, PathRule>): PathRule | undefined {
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) {
    const rule = rules.get(at);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

function parentOf(path: string): string | undefined {
  if (path === '/') return undefined;
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length;
}

function strength({ kind }: PathRule): number {
  return STRENGTH.indexOf(kind);
}

/** Tells whether a command can create or change the entry at this path. `rules` must come from `layerRules`. */
export function isWritable(path: string, rules: readonly PathRule[]): boolean {
  const rule = holding(path, rules);
  return rule !== undefined && WRITABLE.has(rule.kind);
}

/** Tells whether a command cannot see the entry at this path. `rules` must come from `layerRules`. */
export function isHidden(path: string, rules: readonly PathRule[]): boolean {
  const rule = holding(path, rules);
  return rule !== undefined && (rule.kind === 'hidden' || rule.kind === 'masked');
}

function holding(path: string, laid: readonly PathRule[]): PathRule | undefined {
  return laid.findLast((rule) => isInside(rule.path, path));
}
