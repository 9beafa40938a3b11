import { join } from 'node:path';
import { findGitControlPaths } from '../git/control-paths.ts';
import { findRepository } from '../git/repository.ts';
import { isInside } from '../../base/path-inside.ts';
import { isProtectedName, PROTECTED_PATHS } from '../files/protected-names.ts';
import { isSecretPath, listSecretPaths } from '../files/secret-paths.ts';
import { findGitWritablePaths } from './cleanup/git-writable-paths.ts';
import type { GitWritablePaths } from './cleanup/file-backup.ts';
import {
  gitDirectoryRules,
  listGitDirectories,
  outerRepositoryRules,
  worktreeRules,
} from './git-rules.ts';
import {
  lstatIfPresent,
  directoryNames,
  readTextIfPresent,
  resolveMissingPath,
  realPathIfPresent,
} from '../files/path-lookup.ts';
import type { ProtectedPathState } from './cleanup/new-entries.ts';
import { isHidden, isWritable, layerRules, type GuardedPaths, type PathRule } from './plan.ts';
import type { Confinement } from './sandbox.ts';

/** Paths of this machine and user that are protected from commands. */
export interface HostPaths {
  /** The home directories that programs may use for `~`. Absolute. */
  readonly homes: readonly string[];
  /** Muster's own state directories. */
  readonly stateDirectories: readonly string[];
  /** Directories in the state directories that commands can read. Default: none. */
  readonly shownDirectories?: readonly string[];
  /** Directories that contain the sockets of the user's programs. */
  readonly runtimeDirectories: readonly string[];
  /** Sockets that the environment names. */
  readonly sockets: readonly string[];
  /** The value of PATH. Default: empty. */
  readonly path?: string;
  /** Directories of caches that commands may write to in addition to the roots. Default: none. */
  readonly caches?: readonly string[];
}

/**
 * Directories that contain sockets and program state. A command gets an empty directory in place of each, in which only
 * the paths in `SHOWN_PATHS` are visible.
 */
const PRIVATE_DIRECTORIES = ['/tmp', '/run', '/var/run'];
/** Paths of programs, drivers and name servers that lie below /run on some systems. */
const SHOWN_PATHS = ['/run/current-system', '/run/opengl-driver', '/etc/resolv.conf'];
/**
 * Directories in the home directory that commands must not create: whoever can write to them can log in as the user or
 * act in the user's name.
 */
const CREDENTIAL_DIRECTORIES = ['.ssh', '.gnupg', '.aws', '.azure', '.config/gcloud', '.config/gh'];
const SYSTEM_SECRETS = ['/etc/shadow', '/etc/gshadow', '/etc/shadow-', '/etc/gshadow-'];

/**
 * The paths that a command may see and change, and the protected paths that are checked when the command has ended.
 */
export interface CommandAccess {
  readonly rules: readonly PathRule[];
  readonly protectedPaths: ProtectedPathState;
  /**
   * Protected paths that are left writable because the command runs only git; null if there are none.
   */
  readonly gitWritable: GitWritablePaths | null;
}

/** Determines the access of a command from its confinement and the present state of the disk. */
export function determineAccess(
  {
    access,
    roots,
    denied,
    worktree,
    runsGitAlone = false,
    visible = [],
    ownState = [],
    servesFileTools = false,
  }: Confinement,
  hostPaths: HostPaths,
): CommandAccess {
  const isWorkspace = access === 'workspace';
  const { hidden, readOnly } = denied ?? { hidden: [], readOnly: [] };
  const visibilityRules = layerRules([
    ...[...PRIVATE_DIRECTORIES, ...hostPaths.runtimeDirectories].flatMap(privateRule),
    ...[...SHOWN_PATHS, ...(hostPaths.shownDirectories ?? []), ...visible].flatMap((path) =>
      existingRule('shown', path),
    ),
    ...roots.map((path) => rule(isWorkspace ? rootRuleKind(path, readOnly) : 'shown', path)),
    ...ownState.flatMap((path) => existingRule(isWorkspace ? 'writable' : 'shown', path)),
    ...secretRules(roots, hostPaths).filter(
      ({ path }) => !ownState.some((directory) => isInside(directory, path)),
    ),
    // A hidden path may be a link to a root. The root itself is not hidden.
    ...hidden.flatMap(hidingRules).filter(({ path }) => !roots.includes(path)),
    ...listHostSockets(hostPaths.sockets).map((path) => rule('masked', path)),
  ]);
  if (!isWorkspace) {
    return {
      rules: visibilityRules,
      protectedPaths: { missing: [], present: new Map() },
      gitWritable: null,
    };
  }
  const repositories = [
    ...roots.flatMap((root) => gitRules(root)),
    ...roots.map((root) => {
      if (servesFileTools) return readOnlyGitRules(root);
      return worktree === undefined
        ? outerRepositoryRules(root, roots)
        : worktreeRules(root, worktree);
    }),
  ];
  const opened = repositories
    .flatMap(({ rules }) => rules)
    .filter(createVisibilityFilter(visibilityRules));
  const controlled = gitControlRules(roots, hostPaths.homes);
  const denials = readOnlyRules(readOnly, visibilityRules);
  const caches = (hostPaths.caches ?? [])
    .flatMap((path) => existingRule('writable', path))
    .filter(createVisibilityFilter(visibilityRules));
  const protection = [...caches, ...opened, ...roots.flatMap(presentRules)];
  const defaultRules = layerRules([
    ...visibilityRules,
    ...protection,
    ...controlled.rules,
    ...denials.rules,
  ]);
  const mayChangeControlFiles = runsGitAlone && worktree === undefined;
  const gitWritable = mayChangeControlFiles
    ? findGitWritablePaths(roots, hostPaths, defaultRules)
    : null;
  const gitWritablePaths = new Set(gitWritable === null ? [] : Object.values(gitWritable).flat());
  const rules =
    gitWritable === null
      ? defaultRules
      : layerRules([
          ...visibilityRules,
          ...protection.filter(
            ({ kind, path }) => kind !== 'protected' || !gitWritablePaths.has(path),
          ),
          ...controlled.rules,
          ...denials.rules,
        ]);
  const writable = roots.filter((root) => isWritable(root, rules));
  const missing = [
    ...writable.flatMap(missingNames),
    ...repositories.flatMap((each) => each.missing),
    ...controlled.missing,
    ...denials.missing,
    ...missingSecrets(hostPaths),
  ]
    .flatMap((path) => resolveMissing(path) ?? [])
    .filter((path) => isWritable(path, rules));
  return {
    rules,
    protectedPaths: {
      missing: [...new Set(missing)],
      present: new Map(
        writable.map((root) => [root, new Set(directoryNames(root).filter(isProtectedName))]),
      ),
    },
    gitWritable,
  };
}

/**
 * Returns a filter that drops rules for hidden paths that would show them or make them writable, so that a hidden
 * repository stays hidden.
 */
function createVisibilityFilter(visibilityRules: readonly PathRule[]): (rule: PathRule) => boolean {
  return ({ kind, path }) =>
    !['writable', 'shown'].includes(kind) || !isHidden(path, visibilityRules);
}

function rule(kind: PathRule['kind'], path: string): PathRule {
  return { kind, path };
}

/**
 * Returns the rule for a private directory; no rule for a path that is missing or a link, because the target of the
 * link has a rule of its own.
 */
function privateRule(path: string): readonly PathRule[] {
  return lstatIfPresent(path)?.isDirectory() === true ? [rule('private', path)] : [];
}

/** Returns a rule for the real path of `path`; no rule if the path does not exist. */
function existingRule(kind: PathRule['kind'], path: string): readonly PathRule[] {
  const real = realPathIfPresent(path);
  return real === undefined ? [] : [{ kind, path: real }];
}

const PROTECTED_PARTIAL_PATHS = PROTECTED_PATHS.filter((path) => path.includes('/'));

function gitRules(root: string): readonly GuardedPaths[] {
  const names = directoryNames(root);
  const isBare = ['HEAD', 'objects', 'refs'].every((name) => names.includes(name));
  return [
    ...(names.includes('.git') ? [gitDirectoryRules(join(root, '.git'))] : []),
    ...(isBare ? [gitDirectoryRules(root)] : []),
  ];
}

/**
 * Returns rules that show the repository of a root, and make its git directories read-only as a whole. If the root itself
 * is a git directory, it stays writable.
 */
function readOnlyGitRules(root: string): GuardedPaths {
  const repository = findRepository(root);
  if (repository === undefined) return { rules: [], missing: [] };
  const { top } = repository;
  const directories = [join(top, '.git'), ...listGitDirectories(repository)];
  return {
    rules: [
      // Searches look for ignore files from the root up to the top of the repository.
      rule('shown', top),
      ...directories
        .filter((path) => path !== root)
        .flatMap((path) => existingRule('protected', path)),
    ],
    missing: [],
  };
}

/**
 * Returns rules for the protected names and partial paths that exist in a root.
 */
function presentRules(root: string): readonly PathRule[] {
  return [...directoryNames(root).filter(isProtectedName), ...PROTECTED_PARTIAL_PATHS]
    .filter((name) => name !== '.git')
    .flatMap((name) => existingRule('protected', join(root, name)));
}

function missingNames(root: string): readonly string[] {
  return PROTECTED_PATHS.map((name) => join(root, name)).filter(
    (path) => lstatIfPresent(path) === undefined,
  );
}

/** Resolves the links in a missing path; undefined if the path exists, or if one of these links has no target. */
function resolveMissing(path: string): string | undefined {
  const first = findFirstMissing(path);
  if (first === undefined) return undefined;
  const real = resolveMissingPath(first);
  return real === undefined ? undefined : `${real}${path.slice(first.length)}`;
}

/**
 * Returns rules for the files outside git directories that control git, because the configuration of a repository names
 * them.
 */
function gitControlRules(roots: readonly string[], homes: readonly string[]): GuardedPaths {
  const rules: PathRule[] = [];
  const missing: string[] = [];
  for (const root of roots) {
    const repository = findRepository(root);
    if (repository === undefined) continue;
    const { hookDirectories, files } = findGitControlPaths(repository, { homes, roots });
    for (const path of [...hookDirectories, ...files]) {
      const lacking = findFirstMissing(path);
      if (lacking === undefined) rules.push(...existingRule('protected', path));
      else missing.push(lacking);
    }
  }
  return { rules, missing };
}

function secretRules(
  roots: readonly string[],
  { homes, stateDirectories }: HostPaths,
): readonly PathRule[] {
  const paths = new Set([
    ...homes.flatMap(listSecretPaths),
    ...[...homes, ...roots].flatMap(listTopSecrets),
    ...stateDirectories,
    ...SYSTEM_SECRETS,
  ]);
  return [...paths].flatMap(hidingRules);
}

function listTopSecrets(directory: string): readonly string[] {
  return directoryNames(directory)
    .map((name) => join(directory, name))
    .filter((path) => isSecretPath(path));
}

/**
 * Lists the missing directories of credentials and of Muster's state, which a command could create. If parents are
 * missing too, lists the topmost missing parent.
 */
function missingSecrets({ homes, stateDirectories }: HostPaths): readonly string[] {
  const wanted = [
    ...homes.flatMap((home) => CREDENTIAL_DIRECTORIES.map((name) => join(home, name))),
    ...stateDirectories,
  ];
  return wanted.flatMap((path) => {
    const missing = resolveMissingPath(findFirstMissing(path));
    return missing === undefined ? [] : [missing];
  });
}

function findFirstMissing(path: string): string | undefined {
  let at = '/';
  for (const name of path.split('/').filter((part) => part !== '')) {
    at = join(at, name);
    if (lstatIfPresent(at) === undefined) return at;
  }
  return undefined;
}

/** Returns a rule that hides the file or directory at a path; no rule if the path does not exist. */
function hidingRules(path: string): readonly PathRule[] {
  const real = realPathIfPresent(path);
  const found = real === undefined ? undefined : lstatIfPresent(real);
  if (real === undefined || found === undefined) return [];
  return [{ kind: found.isDirectory() ? 'hidden' : 'masked', path: real }];
}

/**
 * Returns the kind of the rule for a root (real path) of a command with workspace access: `shown`, which is read-only,
 * if a read-only path contains the root.
 */
function rootRuleKind(root: string, readOnly: readonly string[]): 'writable' | 'shown' {
  return readOnly.some((path) => isInside(realPathIfPresent(path) ?? path, root))
    ? 'shown'
    : 'writable';
}

/**
 * Returns rules for the read-only paths that would otherwise be writable, and lists the read-only paths that do not
 * exist and must not be created. Paths whose directory does not exist either are ignored. `layered` are the rules that
 * determine what is writable (see `layerRules`).
 */
function readOnlyRules(paths: readonly string[], layered: readonly PathRule[]): GuardedPaths {
  const rules: PathRule[] = [];
  const missing: string[] = [];
  for (const requested of paths) {
    const real = realPathIfPresent(requested);
    if (real !== undefined) {
      if (isWritable(real, layered)) rules.push({ kind: 'protected', path: real });
      continue;
    }
    // A link without a target is an existing entry, so nothing else can be created at its path.
    const path =
      lstatIfPresent(requested) === undefined ? resolveMissingPath(requested) : undefined;
    if (path !== undefined) missing.push(path);
  }
  return { rules, missing };
}

/**
 * The maximum number of sockets that are hidden separately, because each may need a mount. Most sockets lie in
 * directories that the sandbox replaces by empty ones anyway.
 */
const MAX_SOCKETS = 1000;

/**
 * Lists the real paths of the Unix sockets of this machine: those that the kernel lists for this network namespace
 * (proc(5), /proc/net/unix), and those in `further`. Each socket is hidden separately, because a read-only file system
 * does not prevent connections to a socket.
 */
function listHostSockets(further: readonly string[]): readonly string[] {
  const listed = parseSocketTable(readTextIfPresent('/proc/net/unix') ?? '');
  const sockets = [...further, ...listed]
    .filter((path) => lstatIfPresent(path)?.isSocket() === true)
    .flatMap((path) => realPathIfPresent(path) ?? []);
  return [...new Set(sockets)].slice(0, MAX_SOCKETS);
}

/** Returns the paths in the last column of /proc/net/unix. */
export function parseSocketTable(table: string): readonly string[] {
  return table.split('\n').flatMap((line) => /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1] ?? []);
}
