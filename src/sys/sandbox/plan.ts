import { isInside } from '../../base/path-inside.ts';

/** The access of a sandboxed command to a path and everything below it. Paths without a rule are read-only. */
export interface PathRule {
  readonly kind:
    | 'private' // an empty directory that is removed when the command ends
    | 'shown' // visible and read-only, also below a private directory
    | 'writable' // visible and writable
    | 'held' // writable, but cannot be renamed or moved
    | 'protected' // visible and read-only, below a writable directory
    | 'absent' // does not exist and cannot be created, if the kind of sandbox can prevent that
    | 'hidden' // a directory that appears empty
    | 'masked'; // a file or socket that cannot be opened
  /** Absolute, without links. */
  readonly path: string;
}

/** Protected paths: rules for the paths that exist, and the paths that must not be created. */
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
   * True if the command runs as root. Root owns the files that configure the kernel, and can write to them even without
   * capabilities.
   */
  readonly asRoot: boolean;
  /** The file that stands in for masked files, if the kind of sandbox needs one. Default: `/dev/null`, which cannot be opened. */
  readonly mask?: string;
}

/** The kinds of rules by strength. If there are several rules for one path, the last in this order wins. */
const STRENGTH: readonly PathRule['kind'][] = [
  'private',
  'shown',
  // A writable root is a mount and cannot be moved, so `writable` may replace `held`.
  'held',
  'writable',
  'protected',
  'absent',
  'hidden',
  'masked',
];

/** Kinds of rules that hide everything of this machine below their path. */
export const EMPTY_KINDS: ReadonlySet<PathRule['kind']> = new Set([
  'private',
  'absent',
  'hidden',
  'masked',
]);
const WRITABLE_KINDS: ReadonlySet<PathRule['kind']> = new Set(['writable', 'held']);

/**
 * Sorts rules into the order in which they are applied one over the other, and drops rules without an effect: only
 * writable paths are protected, and only visible paths are hidden. Adds rules that keep the directories above a
 * protected or hidden path from being renamed, because a rename would also move the path and leave its name free.
 */
export function layerRules(rules: readonly PathRule[]): readonly PathRule[] {
  const layered = applyStrongest(rules);
  return applyStrongest([...layered, ...layered.flatMap((rule) => listParentRules(rule, layered))]);
}

function listParentRules(
  { kind, path }: PathRule,
  layered: readonly PathRule[],
): readonly PathRule[] {
  // A path that does not exist cannot be moved together with its directory.
  if (WRITABLE_KINDS.has(kind) || kind === 'absent') return [];
  const above = findCoveringRule(getParent(path) ?? '/', layered);
  if (above === undefined || !WRITABLE_KINDS.has(above.kind)) return [];
  const parentRules: PathRule[] = [];
  for (let at = getParent(path); at !== undefined && at !== above.path; at = getParent(at)) {
    parentRules.push({ kind: 'held', path: at });
  }
  return parentRules;
}

function applyStrongest(rules: readonly PathRule[]): readonly PathRule[] {
  const byPath = new Map<string, PathRule>();
  for (const rule of rules) {
    const other = byPath.get(rule.path);
    if (other === undefined || strength(other) < strength(rule)) byPath.set(rule.path, rule);
  }
  const layered = new Map<string, PathRule>();
  const fromTheTop = [...byPath.values()].toSorted(
    (a, b) => depth(a.path) - depth(b.path) || (a.path < b.path ? -1 : 1),
  );
  for (const rule of fromTheTop) {
    if (hasEffect(rule, ruleAbove(rule.path, layered))) layered.set(rule.path, rule);
  }
  return [...layered.values()];
}

function hasEffect({ kind }: PathRule, above: PathRule | undefined): boolean {
  const isEmpty = above !== undefined && EMPTY_KINDS.has(above.kind);
  switch (kind) {
    case 'writable':
      return true;
    case 'shown':
      return isEmpty;
    case 'held':
    case 'protected':
    case 'absent':
      return above !== undefined && WRITABLE_KINDS.has(above.kind);
    case 'private':
    case 'hidden':
    case 'masked':
      return !isEmpty;
  }
}

function ruleAbove(path: string, rules: ReadonlyMap<string, PathRule>): PathRule | undefined {
  for (let at = getParent(path); at !== undefined; at = getParent(at)) {
    const rule = rules.get(at);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

function getParent(path: string): string | undefined {
  if (path === '/') return undefined;
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length;
}

function strength({ kind }: PathRule): number {
  return STRENGTH.indexOf(kind);
}

/** Tells whether a command can create or change an entry at this path. `rules` must come from `layerRules`. */
export function isWritable(path: string, rules: readonly PathRule[]): boolean {
  const rule = findCoveringRule(path, rules);
  return rule !== undefined && WRITABLE_KINDS.has(rule.kind);
}

/** Tells whether the entry at this path is hidden from a command. `rules` must come from `layerRules`. */
export function isHidden(path: string, rules: readonly PathRule[]): boolean {
  const rule = findCoveringRule(path, rules);
  return rule !== undefined && (rule.kind === 'hidden' || rule.kind === 'masked');
}

/**
 * Returns the rule that decides about a path: the one for the path itself or for the nearest directory above it. `rules`
 * must come from `layerRules`.
 */
export function findCoveringRule(path: string, layered: readonly PathRule[]): PathRule | undefined {
  return layered.findLast((rule) => isInside(rule.path, path));
}
