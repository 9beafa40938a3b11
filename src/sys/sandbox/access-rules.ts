import { join } from 'node:path';
import { obeyedPaths } from '../git/control-paths.ts';
import { findRepository } from '../git/repository.ts';
import { isProtectedName, PROTECTED_PATHS } from '../files/protected-names.ts';
import { isSecretPath, secretPlaces } from '../files/secret-paths.ts';
import { placesForGit } from './cleanup/git-writable-paths.ts';
import type { OpenedPlaces } from './cleanup/file-backup.ts';
import { concealed, readOnlyPlaces, rootKind } from './denied-rules.ts';
import { gitRules, outerGitRules } from './git-rules.ts';
import { hostSockets } from './host-sockets.ts';
import { look, namesOf, realParent, realPath } from '../files/path-lookup.ts';
import type { ProtectedPlaces } from './cleanup/new-entries.ts';
import { isHidden, isWritable, layRules, type GuardedPlaces, type PathRule } from './plan.ts';
import type { Confinement } from './sandbox.ts';

/** The places of this machine and user, and what is to be kept from commands there. */
export interface Surroundings {
  /** Absolute: what `~` means to programs; there may be several. */
  readonly homes: readonly string[];
  /** Muster's own. */
  readonly stateDirectories: readonly string[];
  /** Where sockets of the user's programs lie. */
  readonly runtimeDirectories: readonly string[];
  /** Sockets that the environment names. */
  readonly sockets: readonly string[];
  /** Where programs are looked for (PATH). Default: nowhere. */
  readonly path?: string;
  /** Directories of caches that may be written to beside the roots. Default: none. */
  readonly caches?: readonly string[];
}

/** Of a socket or program's state: nothing that a command needs is there but what KEPT names. */
const PRIVATE = ['/tmp', '/run', '/var/run'];
/** Programs, drivers and the name servers of some systems lie below /run. */
const KEPT = ['/run/current-system', '/run/opengl-driver', '/etc/resolv.conf'];
/** Who can write here can log in as the user, or act in their name. */
const NEVER_MADE = ['.ssh', '.gnupg', '.aws', '.azure', '.config/gh'];
const SYSTEM_SECRETS = ['/etc/shadow', '/etc/gshadow', '/etc/shadow-', '/etc/gshadow-'];

/** What a command may see and change, and what it must not have made when it has ended. */
export interface Survey {
  readonly rules: readonly PathRule[];
  readonly places: ProtectedPlaces;
  /** What is not held because git runs alone; null: nothing. */
  readonly opened: OpenedPlaces | null;
}

/** What a command may see and change, from what is on the disk now. */
export function survey(
  { access, roots, denied, runsGitAlone = false }: Confinement,
  surroundings: Surroundings,
): Survey {
  const isWorkspace = access === 'workspace';
  const { hidden, readOnly } = denied ?? { hidden: [], readOnly: [] };
  const seen = layRules([
    ...[...PRIVATE, ...surroundings.runtimeDirectories].flatMap(privateRule),
    ...KEPT.flatMap(shownRule),
    ...roots.map((path) => rule(isWorkspace ? rootKind(path, readOnly) : 'shown', path)),
    ...secretRules(roots, surroundings),
    // A link may lead to one.
    ...hidden.flatMap(concealed).filter(({ path }) => !roots.includes(path)),
    ...hostSockets(surroundings.sockets).map((path) => rule('masked', path)),
  ]);
  if (!isWorkspace) {
    return { rules: seen, places: { missing: [], present: new Map() }, opened: null };
  }
  const repositories = [
    ...roots.flatMap((root) => gitPlaces(root)),
    ...roots.map((root) => outerGitRules(root, roots)),
  ];
  const opened = repositories.flatMap(({ rules }) => rules).filter(isOpenedUnless(seen));
  const obeyed = obeyedPlaces(roots, surroundings.homes);
  const denials = readOnlyPlaces(readOnly, seen);
  const caches = (surroundings.caches ?? []).flatMap(cacheRule).filter(isOpenedUnless(seen));
  const protection = [...caches, ...opened, ...roots.flatMap(presentRules)];
  const held = layRules([...seen, ...protection, ...obeyed.rules, ...denials.rules]);
  const forGit = runsGitAlone ? placesForGit(roots, surroundings, held) : null;
  const isOpened = new Set(forGit === null ? [] : Object.values(forGit).flat());
  const rules =
    forGit === null
      ? held
      : layRules([
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
    ...missingSecrets(surroundings),
  ]
    .flatMap((path) => missingPlace(path) ?? [])
    .filter((path) => isWritable(path, rules));
  return {
    rules,
    places: {
      missing: [...new Set(missing)],
      present: new Map(
        writable.map((root) => [root, new Set(namesOf(root).filter(isProtectedName))]),
      ),
    },
    opened: forGit,
  };
}

/** A repository is not opened for writing where nothing of it is to be seen. */
function isOpenedUnless(seen: readonly PathRule[]): (rule: PathRule) => boolean {
  return ({ kind, path }) => kind !== 'writable' || !isHidden(path, seen);
}

function rule(kind: PathRule['kind'], path: string): PathRule {
  return { kind, path };
}

function cacheRule(path: string): readonly PathRule[] {
  const real = realPath(path);
  return real === undefined ? [] : [rule('writable', real)];
}

/** None where it is missing or a link: what a link leads to has a rule of its own. */
function privateRule(path: string): readonly PathRule[] {
  return look(path)?.isDirectory() === true ? [rule('private', path)] : [];
}

function shownRule(path: string): readonly PathRule[] {
  const real = realPath(path);
  return real === undefined ? [] : [rule('shown', real)];
}

const DEEPER = PROTECTED_PATHS.filter((path) => path.includes('/'));

function gitPlaces(root: string): readonly GuardedPlaces[] {
  const names = namesOf(root);
  const isBare = ['HEAD', 'objects', 'refs'].every((name) => names.includes(name));
  return [
    ...(names.includes('.git') ? [gitRules(join(root, '.git'))] : []),
    ...(isBare ? [gitRules(root)] : []),
  ];
}

/** For the protected names that are there, at the top of a root or in the directories that they name. */
function presentRules(root: string): readonly PathRule[] {
  return [...namesOf(root).filter(isProtectedName), ...DEEPER]
    .filter((name) => name !== '.git')
    .flatMap((name) => protectedRule(join(root, name)));
}

function missingNames(root: string): readonly string[] {
  return PROTECTED_PATHS.map((name) => join(root, name)).filter((path) => look(path) === undefined);
}

/** A missing path without links in the way. Undefined: one of them leads nowhere. */
function missingPlace(path: string): string | undefined {
  const first = firstMissing(path);
  if (first === undefined) return undefined;
  const place = realParent(first);
  return place === undefined ? undefined : `${place}${path.slice(first.length)}`;
}

/** What lies in the roots, and the configuration of their repositories makes git obey. */
function obeyedPlaces(roots: readonly string[], homes: readonly string[]): GuardedPlaces {
  const rules: PathRule[] = [];
  const missing: string[] = [];
  for (const root of roots) {
    const repository = findRepository(root);
    if (repository === undefined) continue;
    const { hookDirectories, files } = obeyedPaths(repository, { homes, roots });
    for (const path of [...hookDirectories, ...files]) {
      const lacking = firstMissing(path);
      if (lacking === undefined) rules.push(...protectedRule(path));
      else missing.push(lacking);
    }
  }
  return { rules, missing };
}

function protectedRule(path: string): readonly PathRule[] {
  const real = realPath(path);
  return real === undefined ? [] : [rule('protected', real)];
}

function secretRules(
  roots: readonly string[],
  { homes, stateDirectories }: Surroundings,
): readonly PathRule[] {
  const paths = new Set([
    ...homes.flatMap(secretPlaces),
    ...[...homes, ...roots].flatMap(secretsAtTheTop),
    ...stateDirectories,
    ...SYSTEM_SECRETS,
  ]);
  return [...paths].flatMap(concealed);
}

function secretsAtTheTop(directory: string): readonly string[] {
  return namesOf(directory)
    .map((name) => join(directory, name))
    .filter((path) => isSecretPath(path));
}

/** Secret and state directories that are missing, and that a command could make: the first part of each. */
function missingSecrets({ homes, stateDirectories }: Surroundings): readonly string[] {
  const wanted = [
    ...homes.flatMap((home) => NEVER_MADE.map((name) => join(home, name))),
    ...stateDirectories,
  ];
  return wanted.flatMap((path) => {
    const missing = realParent(firstMissing(path));
    return missing === undefined ? [] : [missing];
  });
}

function firstMissing(path: string): string | undefined {
  let at = '/';
  for (const name of path.split('/').filter((part) => part !== '')) {
    at = join(at, name);
    if (look(at) === undefined) return at;
  }
  return undefined;
}
