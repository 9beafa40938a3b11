import { join } from 'node:path';
import { findGitControlPaths } from '../git/control-paths.ts';
import { findRepository } from '../git/repository.ts';
import { isProtectedName, PROTECTED_PATHS } from '../files/protected-names.ts';
import { isSecretPath, listSecretPaths } from '../files/secret-paths.ts';
import { findGitWritablePaths } from './cleanup/git-writable-paths.ts';
import type { GitWritablePaths } from './cleanup/file-backup.ts';
import { hidingRules, readOnlyRules, rootRuleKind } from './denied-rules.ts';
import { gitDirectoryRules, outerRepositoryRules } from './git-rules.ts';
import { listHostSockets } from './host-sockets.ts';
import {
  lstatIfPresent,
  directoryNames,
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
    ...KEPT.flatMap(shownRule),
    ...roots.map((path) => rule(isWorkspace ? rootRuleKind(path, readOnly) : 'shown', path)),
    ...secretRules(roots, hostPaths),
    // A link may lead to one.
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
  const caches = (hostPaths.caches ?? []).flatMap(cacheRule).filter(isOpenedUnless(seen));
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

function cacheRule(path: string): readonly PathRule[] {
  const real = realPathIfPresent(path);
  return real === undefined ? [] : [rule('writable', real)];
}

/** Returns no rule for a path that is missing or a link: the target of the link has a rule of its own. */
function privateRule(path: string): readonly PathRule[] {
  return lstatIfPresent(path)?.isDirectory() === true ? [rule('private', path)] : [];
}

function shownRule(path: string): readonly PathRule[] {
  const real = realPathIfPresent(path);
  return real === undefined ? [] : [rule('shown', real)];
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
    .flatMap((name) => protectedRule(join(root, name)));
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
      if (lacking === undefined) rules.push(...protectedRule(path));
      else missing.push(lacking);
    }
  }
  return { rules, missing };
}

function protectedRule(path: string): readonly PathRule[] {
  const real = realPathIfPresent(path);
  return real === undefined ? [] : [rule('protected', real)];
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
