import { join } from 'node:path';
import { findGitControlPaths } from '../git/control-paths.ts';
import { findRepository } from '../git/repository.ts';
import { isInside } from '../files/paths.ts';
import { isProtectedName, PROTECTED_PATHS } from '../files/protected-names.ts';
import { isSecretPath, listSecretPaths } from '../files/secret-paths.ts';
import { findGitWritablePaths } from './cleanup/git-writable-paths.ts';
import type { GitWritablePaths } from './cleanup/file-backup.ts';
import { gitDirectoryRules, outerRepositoryRules } from './git-rules.ts';
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
  /** The possible meanings of `~` for programs. Absolute. */
  readonly homes: readonly string[];
  /** Muster's own state directories. */
  readonly stateDirectories: readonly string[];
  /** Directories that hold the sockets of the user's programs. */
  readonly runtimeDirectories: readonly string[];
  /** Sockets that the environment names. */
  readonly sockets: readonly string[];
  /** Directories in which programs are looked up (PATH). Default: none. */
  readonly path?: string;
  /** Directories of caches that may be written to beside the roots. Default: none. */
  readonly caches?: readonly string[];
}

/**
 * Directories that hold sockets and program state. A command needs nothing in them except the paths in `KEPT`.
 */
const PRIVATE = ['/tmp', '/run', '/var/run'];
/** Programs, drivers and the name servers of some systems lie below /run. */
const KEPT = ['/run/current-system', '/run/opengl-driver', '/etc/resolv.conf'];
/**
 * Directories that give whoever can write to them the ability to log in as the user or to act in the user's
 * name.
 */
const NEVER_MADE = ['.ssh', '.gnupg', '.aws', '.azure', '.config/gh'];
const SYSTEM_SECRETS = ['/etc/shadow', '/etc/gshadow', '/etc/shadow-', '/etc/gshadow-'];

/**
 * The paths that a command may see and change, and the paths that it must not have created when it has ended.
 */
export interface CommandAccess {
  readonly rules: readonly PathRule[];
  readonly protectedPaths: ProtectedPathState;
  /**
   * Protected paths that are left writable because the command runs git and nothing else; null if there are
   * none.
   */
  readonly gitWritable: GitWritablePaths | null;
}

/** Determines from the present state of the disk what a command may see and change. */
export function determineAccess(
  { access, roots, denied, runsGitAlone = false }: Confinement,
  hostPaths: HostPaths,
): CommandAccess {
  const isWorkspace = access === 'workspace';
  const { hidden, readOnly } = denied ?? { hidden: [], readOnly: [] };
  const seen = layerRules([
    ...[...PRIVATE, ...hostPaths.runtimeDirectories].flatMap(privateRule),
    ...KEPT.flatMap((path) => existingRule('shown', path)),
    ...roots.map((path) => rule(isWorkspace ? rootRuleKind(path, readOnly) : 'shown', path)),
    ...secretRules(roots, hostPaths),
    // The target of a link may be a root.
    ...hidden.flatMap(hidingRules).filter(({ path }) => !roots.includes(path)),
    ...listHostSockets(hostPaths.sockets).map((path) => rule('masked', path)),
  ]);
  if (!isWorkspace) {
    return { rules: seen, protectedPaths: { missing: [], present: new Map() }, gitWritable: null };
  }
  const repositories = [
    ...roots.flatMap((root) => gitPlaces(root)),
    ...roots.map((root) => outerRepositoryRules(root, roots)),
  ];
  const opened = repositories.flatMap(({ rules }) => rules).filter(isOpenedUnless(seen));
  const obeyed = obeyedPlaces(roots, hostPaths.homes);
  const denials = readOnlyRules(readOnly, seen);
  const caches = (hostPaths.caches ?? [])
    .flatMap((path) => existingRule('writable', path))
    .filter(isOpenedUnless(seen));
  const protection = [...caches, ...opened, ...roots.flatMap(presentRules)];
  const held = layerRules([...seen, ...protection, ...obeyed.rules, ...denials.rules]);
  const forGit = runsGitAlone ? findGitWritablePaths(roots, hostPaths, held) : null;
  const isOpened = new Set(forGit === null ? [] : Object.values(forGit).flat());
  const rules =
    forGit === null
      ? held
      : layerRules([
          ...seen,
          ...protection.filter(({ kind, path }) => kind !== 'protected' || !isOpened.has(path)),
          ...obeyed.rules,
          ...denials.rules,
        ]);
  const writable = roots.filter((root) => isWritable(root, rules));
  const missing = [
    ...writable.flatMap(missingNames),
    ...repositories.flatMap((each) => each.missing),
    ...obeyed.missing,
    ...denials.missing,
    ...missingSecrets(hostPaths),
  ]
    .flatMap((path) => missingPlace(path) ?? [])
    .filter((path) => isWritable(path, rules));
  return {
    rules,
    protectedPaths: {
      missing: [...new Set(missing)],
      present: new Map(
        writable.map((root) => [root, new Set(directoryNames(root).filter(isProtectedName))]),
      ),
    },
    gitWritable: forGit,
  };
}

/**
 * Returns a filter that drops writable rules for paths that are hidden: a repository is not made writable if it
 * must not be seen.
 */
function isOpenedUnless(seen: readonly PathRule[]): (rule: PathRule) => boolean {
  return ({ kind, path }) => kind !== 'writable' || !isHidden(path, seen);
}

function rule(kind: PathRule['kind'], path: string): PathRule {
  return { kind, path };
}

/** Returns no rule for a path that is missing or a link: the target of the link has a rule of its own. */
function privateRule(path: string): readonly PathRule[] {
  return lstatIfPresent(path)?.isDirectory() === true ? [rule('private', path)] : [];
}

/** Returns the rule for the real path; none if nothing exists there. */
function existingRule(kind: PathRule['kind'], path: string): readonly PathRule[] {
  const real = realPathIfPresent(path);
  return real === undefined ? [] : [{ kind, path: real }];
}

const DEEPER = PROTECTED_PATHS.filter((path) => path.includes('/'));

function gitPlaces(root: string): readonly GuardedPaths[] {
  const names = directoryNames(root);
  const isBare = ['HEAD', 'objects', 'refs'].every((name) => names.includes(name));
  return [
    ...(names.includes('.git') ? [gitDirectoryRules(join(root, '.git'))] : []),
    ...(isBare ? [gitDirectoryRules(root)] : []),
  ];
}

/**
 * Returns rules for the protected names that exist at the top of a root or in the directories that they name.
 */
function presentRules(root: string): readonly PathRule[] {
  return [...directoryNames(root).filter(isProtectedName), ...DEEPER]
    .filter((name) => name !== '.git')
    .flatMap((name) => existingRule('protected', join(root, name)));
}

function missingNames(root: string): readonly string[] {
  return PROTECTED_PATHS.map((name) => join(root, name)).filter(
    (path) => lstatIfPresent(path) === undefined,
  );
}

/** Returns a missing path with the links above it resolved; undefined if one of these links leads nowhere. */
function missingPlace(path: string): string | undefined {
  const first = firstMissing(path);
  if (first === undefined) return undefined;
  const place = resolveMissingPath(first);
  return place === undefined ? undefined : `${place}${path.slice(first.length)}`;
}

/**
 * Returns rules for the files outside git directories that git obeys because the configuration of a repository
 * names them.
 */
function obeyedPlaces(roots: readonly string[], homes: readonly string[]): GuardedPaths {
  const rules: PathRule[] = [];
  const missing: string[] = [];
  for (const root of roots) {
    const repository = findRepository(root);
    if (repository === undefined) continue;
    const { hookDirectories, files } = findGitControlPaths(repository, { homes, roots });
    for (const path of [...hookDirectories, ...files]) {
      const lacking = firstMissing(path);
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
    ...[...homes, ...roots].flatMap(secretsAtTheTop),
    ...stateDirectories,
    ...SYSTEM_SECRETS,
  ]);
  return [...paths].flatMap(hidingRules);
}

function secretsAtTheTop(directory: string): readonly string[] {
  return directoryNames(directory)
    .map((name) => join(directory, name))
    .filter((path) => isSecretPath(path));
}

/** Secret and state directories that are missing, and that a command could make: the first part of each. */
function missingSecrets({ homes, stateDirectories }: HostPaths): readonly string[] {
  const wanted = [
    ...homes.flatMap((home) => NEVER_MADE.map((name) => join(home, name))),
    ...stateDirectories,
  ];
  return wanted.flatMap((path) => {
    const missing = resolveMissingPath(firstMissing(path));
    return missing === undefined ? [] : [missing];
  });
}

function firstMissing(path: string): string | undefined {
  let at = '/';
  for (const name of path.split('/').filter((part) => part !== '')) {
    at = join(at, name);
    if (lstatIfPresent(at) === undefined) return at;
  }
  return undefined;
}

/** Returns the rule that hides the file or directory at a path; none if it does not exist. */
function hidingRules(path: string): readonly PathRule[] {
  const real = realPathIfPresent(path);
  const found = real === undefined ? undefined : lstatIfPresent(real);
  if (real === undefined || found === undefined) return [];
  return [{ kind: found.isDirectory() ? 'hidden' : 'masked', path: real }];
}

/**
 * Returns the kind of rule for a root (real path) of a command with workspace access: read-only if a read-only
 * path contains the root.
 */
function rootRuleKind(root: string, readOnly: readonly string[]): 'writable' | 'shown' {
  return readOnly.some((place) => isInside(realPathIfPresent(place) ?? place, root))
    ? 'shown'
    : 'writable';
}

/**
 * Returns rules for read-only paths that would otherwise be writable, and the ones that do not exist and must
 * not be created. A path whose directory does not exist either is ignored. `laid` are the layered rules that
 * say what is writable.
 */
function readOnlyRules(places: readonly string[], laid: readonly PathRule[]): GuardedPaths {
  const rules: PathRule[] = [];
  const missing: string[] = [];
  for (const place of places) {
    const real = realPathIfPresent(place);
    if (real !== undefined) {
      if (isWritable(real, laid)) rules.push({ kind: 'protected', path: real });
      continue;
    }
    // A link that leads nowhere exists itself, so nothing else can be created at its path.
    const path = lstatIfPresent(place) === undefined ? resolveMissingPath(place) : undefined;
    if (path !== undefined) missing.push(path);
  }
  return { rules, missing };
}

/**
 * The maximum number of sockets that are hidden one by one, because each may cost a mount. Most sockets lie in
 * directories that the sandbox replaces anyway.
 */
const MOST_SOCKETS = 1000;

/**
 * Lists the real paths of the Unix sockets of this machine: the ones that the kernel lists for this network
 * namespace (proc(5), /proc/net/unix), and the ones in `further`. Each is hidden separately, because a
 * read-only file system does not prevent connections to a socket.
 */
function listHostSockets(further: readonly string[]): readonly string[] {
  const listed = parseSocketTable(readTextIfPresent('/proc/net/unix') ?? '');
  const sockets = [...further, ...listed]
    .filter((path) => lstatIfPresent(path)?.isSocket() === true)
    .flatMap((path) => realPathIfPresent(path) ?? []);
  return [...new Set(sockets)].slice(0, MOST_SOCKETS);
}

/** Returns the last column of each row that holds a path there. */
export function parseSocketTable(table: string): readonly string[] {
  return table.split('\n').flatMap((line) => /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1] ?? []);
}
