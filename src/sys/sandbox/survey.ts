import { join } from 'node:path';
import { obeyedPaths } from '../git/obeyed-paths.ts';
import { findRepository } from '../git/repository.ts';
import { PROTECTED_ENDINGS, PROTECTED_PATHS } from '../protected-names.ts';
import { isSecretPath, secretPlaces } from '../secret-paths.ts';
import { ABSENT_NAMES, NAMES_IN_USE } from './absent-names.ts';
import { concealed, readOnlyRules, rootKind } from './denied-rules.ts';
import { gitRules } from './git-rules.ts';
import { hostSockets } from './host-sockets.ts';
import { look, namesOf, realParent, realPath } from './looks.ts';
import { isWritable, layRules, type PathRule } from './plan.ts';
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
}

/** Of a socket or program's state: nothing that a command needs is there but what KEPT names. */
const PRIVATE = ['/tmp', '/run', '/var/run'];
/** Programs, drivers and the name servers of some systems lie below /run. */
const KEPT = ['/run/current-system', '/run/opengl-driver', '/etc/resolv.conf'];
/** Who can write here can log in as the user, or act in their name. */
const NEVER_MADE = ['.ssh', '.gnupg', '.aws', '.azure', '.config/gh'];
const SYSTEM_SECRETS = ['/etc/shadow', '/etc/gshadow', '/etc/shadow-', '/etc/gshadow-'];

/**
 * What a command may see and change, from what is on the disk now. `isPlaceholder` knows the empty
 * directories that stand for what is not there.
 */
export function surveyRules(
  { access, roots, denied }: Confinement,
  surroundings: Surroundings,
  isPlaceholder: (path: string) => boolean,
): readonly PathRule[] {
  const isWorkspace = access === 'workspace';
  const { hidden, readOnly } = denied ?? { hidden: [], readOnly: [] };
  const seen = layRules([
    ...[...PRIVATE, ...surroundings.runtimeDirectories].flatMap(privateRule),
    ...KEPT.flatMap(shownRule),
    ...roots.map((path) => rule(isWorkspace ? rootKind(path, readOnly) : 'shown', path)),
    ...[
      ...secretRules(roots, surroundings),
      // A link may lead to one.
      ...hidden.flatMap(concealed).filter(({ path }) => !roots.includes(path)),
    ].filter(({ path }) => !isPlaceholder(path)),
    ...hostSockets(surroundings.sockets).map((path) => rule('masked', path)),
  ]);
  if (!isWorkspace) return seen;
  const protection = roots.flatMap((root) => protectedRules(root, isPlaceholder));
  const obeyed = obeyedRules(roots, surroundings.homes, isPlaceholder);
  return layRules([
    ...seen,
    ...protection,
    ...obeyed,
    ...missingRules(surroundings, seen, isPlaceholder),
    ...readOnlyRules(readOnly, seen, isPlaceholder),
  ]);
}

function rule(kind: PathRule['kind'], path: string): PathRule {
  return { kind, path };
}

/** None where it is missing or a link: what a link leads to has a rule of its own. */
function privateRule(path: string): readonly PathRule[] {
  return look(path)?.isDirectory() === true ? [rule('private', path)] : [];
}

function shownRule(path: string): readonly PathRule[] {
  const real = realPath(path);
  return real === undefined ? [] : [rule('shown', real)];
}

const PROTECTED = new Set(PROTECTED_PATHS);
const DEEPER = PROTECTED_PATHS.filter((path) => path.includes('/'));

function protectedRules(
  root: string,
  isPlaceholder: (path: string) => boolean,
): readonly PathRule[] {
  const names = namesOf(root);
  const present = [...names.filter(isProtectedName), ...DEEPER];
  const taken = new Set([...names, ...names.flatMap((name) => NAMES_IN_USE.get(name) ?? [])]);
  const absent = ABSENT_NAMES.filter((name) => !taken.has(name));
  return [
    ...present.flatMap((name) => {
      const path = join(root, name);
      if (isPlaceholder(path)) return [rule('absent', path)];
      return name === '.git' ? gitRules(path, isPlaceholder) : protectedRule(path);
    }),
    ...absent.map((name) => rule('absent', join(root, name))),
    ...(['HEAD', 'objects', 'refs'].every((name) => names.includes(name))
      ? gitRules(root, isPlaceholder)
      : []),
  ];
}

/** What lies in the roots, and the configuration of their repositories makes git obey. */
function obeyedRules(
  roots: readonly string[],
  homes: readonly string[],
  isPlaceholder: (path: string) => boolean,
): readonly PathRule[] {
  return roots.flatMap((root) => {
    const repository = findRepository(root);
    if (repository === undefined) return [];
    const { hookDirectories, files } = obeyedPaths(repository, { homes, roots });
    return [
      ...hookDirectories.flatMap((path) => {
        const missing = firstMissing(path, isPlaceholder);
        return missing === undefined ? protectedRule(path) : [rule('absent', missing)];
      }),
      // In the place of one that is missing git would stumble over a directory.
      ...files.flatMap(protectedRule),
    ];
  });
}

function isProtectedName(name: string): boolean {
  const folded = name.toLowerCase();
  return PROTECTED.has(folded) || PROTECTED_ENDINGS.some((ending) => folded.endsWith(ending));
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
function missingRules(
  { homes, stateDirectories }: Surroundings,
  rules: readonly PathRule[],
  isPlaceholder: (path: string) => boolean,
): readonly PathRule[] {
  const wanted = [
    ...homes.flatMap((home) => NEVER_MADE.map((name) => join(home, name))),
    ...stateDirectories,
  ];
  return wanted.flatMap((path) => {
    const missing = realParent(firstMissing(path, isPlaceholder));
    return missing !== undefined && isWritable(missing, rules) ? [rule('absent', missing)] : [];
  });
}

/** What stands there for another command does not count: that one takes it away. */
function firstMissing(path: string, isPlaceholder: (path: string) => boolean): string | undefined {
  let at = '/';
  for (const name of path.split('/').filter((part) => part !== '')) {
    at = join(at, name);
    if (look(at) === undefined || isPlaceholder(at)) return at;
  }
  return undefined;
}
