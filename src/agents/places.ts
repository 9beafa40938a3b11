import {
  FORMATS,
  VENDOR_FORMATS,
  claudeFormat,
  geminiFormat,
  qwenFormat,
  genFormat,
  musterFormat,
  subagentFormat,
} from './formats/catalogue.ts';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { Environment } from '../sys/env.ts';
import { isInside } from '../sys/paths.ts';
import { projectDirectories } from '../sys/project-directories.ts';
import type { AgentFormat, UserDirectories } from './formats/format.ts';
import type { Place } from './place.ts';
import { pluginPlaces, type ExtensibleFormat } from './plugins/places.ts';

/** Formats of products with extensions, in the order in which they are searched. */
const EXTENSIBLE: readonly ExtensibleFormat[] = [
  { format: geminiFormat, extensions: '.gemini/extensions' },
  { format: qwenFormat, extensions: '.qwen/extensions' },
];

/**
 * Every place to look in, first wins: SPEC "Agent definitions", search order. `cwd` is absolute. Looks
 * for `.git`, and at what is installed.
 */
export function agentPlaces(cwd: string, environment: Environment): readonly Place[] {
  const user = userDirectories(environment);
  const chain = projectDirectories(cwd);
  const own = [musterFormat, genFormat, claudeFormat];
  const userPaths = new Set(FORMATS.flatMap(({ places }) => places.user(user)));
  const ofProject = (format: AgentFormat): readonly Place[] =>
    projectPlaces(format, chain).filter(({ path }) => !userPaths.has(path));
  return [
    ...own.flatMap((format) => ofProject(format).concat(userPlaces(format, user, chain))),
    ...VENDOR_FORMATS.flatMap(ofProject),
    ...VENDOR_FORMATS.flatMap((format) => userPlaces(format, user, chain)),
    ...ofProject(subagentFormat),
    ...pluginPlaces(cwd, user, EXTENSIBLE),
  ];
}

/** A kind of place at every level before the next kind: `data/subagents` goes before `subagents`. */
function projectPlaces(format: AgentFormat, chain: readonly string[]): readonly Place[] {
  const boundary = chain.at(-1) ?? '/';
  return format.places.project.flatMap((place) =>
    chain.map((directory): Place => ({
      format,
      scope: 'project',
      path: join(directory, place),
      boundary,
    })),
  );
}

/** A variable may name any directory; in the project it is the project's, which must be trusted. */
function userPlaces(
  format: AgentFormat,
  user: UserDirectories,
  chain: readonly string[],
): readonly Place[] {
  const root = chain.at(-1) ?? '/';
  return format.places.user(user).map((path): Place => {
    if (isInside(root, path) && !isInside(root, user.home)) {
      return { format, scope: 'project', path, boundary: root };
    }
    const boundary = [user.home, user.config].find((each) => isInside(each, path)) ?? dirname(path);
    return { format, scope: 'user', path, boundary };
  });
}

/** Where the files of the user's own lie. */
export function userDirectories(environment: Environment): UserDirectories {
  const home = environment['HOME'] || homedir();
  // A relative path in XDG_CONFIG_HOME is to be ignored, says the XDG specification.
  const named = (variable: string): string | undefined => {
    const path = environment[variable];
    return path !== undefined && isAbsolute(path) ? path : undefined;
  };
  return { home, config: named('XDG_CONFIG_HOME') ?? join(home, '.config'), named };
}
