import { isInside } from '../files/paths.ts';

/** What a path is to a command in the sandbox; where none says anything, it is read-only. */
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

/** What is protected at some places: how what is there is held, and what must not be made. */
export interface GuardedPaths {
  readonly rules: readonly PathRule[];
  /** Absolute paths at which nothing is. */
  readonly missing: readonly string[];
}

/** How a command is held, for any kind of sandbox. */
export interface SandboxPlan {
  /** What is above comes first; of one path there is one rule. */
  readonly rules: readonly PathRule[];
  /** A directory that it may always write to: its TMPDIR. */
  readonly scratch: string;
  readonly network: boolean;
  readonly cwd: string;
  /** Whether it runs as root: to root belong the files by which the kernel is set up, capabilities or not. */
  readonly asRoot: boolean;
}

/** Of several rules for one path the last in this order holds. */
const STRENGTH: readonly PathRule['kind'][] = [
  'private',
  'shown',
  // A root can't be moved away as it is.
  'held',
  'writable',
  'protected',
  'absent',
  'hidden',
  'masked',
];

/** Below these nothing of the host is there. */
const EMPTY: ReadonlySet<PathRule['kind']> = new Set(['private', 'absent', 'hidden', 'masked']);
const WRITABLE: ReadonlySet<PathRule['kind']> = new Set(['writable', 'held']);

/**
 * The rules in the order in which they are laid over one another, without those that change nothing
 * where they are: only what is writable is protected, only what is there is hidden. The directories on
 * the way to such a path are held, since moved away they would take it along and leave its name free.
 */
export function layerRules(rules: readonly PathRule[]): readonly PathRule[] {
  const laid = layOver(rules);
  return layOver([...laid, ...laid.flatMap((rule) => wayTo(rule, laid))]);
}

function wayTo({ kind, path }: PathRule, laid: readonly PathRule[]): readonly PathRule[] {
  // What is not there has nothing that could be moved away.
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

/** Whether a command can make or change what is at this path. `rules` are laid. */
export function isWritable(path: string, rules: readonly PathRule[]): boolean {
  const rule = holding(path, rules);
  return rule !== undefined && WRITABLE.has(rule.kind);
}

/** Whether a command sees nothing of what is at this path. `rules` are laid. */
export function isHidden(path: string, rules: readonly PathRule[]): boolean {
  const rule = holding(path, rules);
  return rule !== undefined && (rule.kind === 'hidden' || rule.kind === 'masked');
}

function holding(path: string, laid: readonly PathRule[]): PathRule | undefined {
  return laid.findLast((rule) => isInside(rule.path, path));
}
