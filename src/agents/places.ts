import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from '../sys/env.ts';
import { projectDirectories } from '../sys/project-directories.ts';
import { FORMATS, VENDOR_FORMATS } from './formats/all.ts';
import { claudeFormat } from './formats/claude.ts';
import type { AgentFormat, UserDirectories } from './formats/format.ts';
import type { Place } from './place.ts';
import { pluginPlaces, type ExtensibleFormat } from './plugins/places.ts';
import { genFormat, musterFormat, subagentFormat } from './formats/muster.ts';

/** Formats of products with extensions, in the order in which they are searched. */
const EXTENSIBLE: readonly ExtensibleFormat[] = [];

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
    ...own.flatMap((format) => ofProject(format).concat(userPlaces(format, user))),
    ...VENDOR_FORMATS.flatMap(ofProject),
    ...VENDOR_FORMATS.flatMap((format) => userPlaces(format, user)),
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

function userPlaces(format: AgentFormat, user: UserDirectories): readonly Place[] {
  return format.places.user(user).map((path): Place => {
    const boundary = path.startsWith(join(user.home, '/')) ? user.home : user.config;
    return { format, scope: 'user', path, boundary };
  });
}

function userDirectories(environment: Environment): UserDirectories {
  const home = environment['HOME'] || homedir();
  const config = environment['XDG_CONFIG_HOME'];
  // A relative path there is to be ignored, says the XDG specification.
  const usable = config !== undefined && isAbsolute(config);
  return { home, config: usable ? config : join(home, '.config') };
}
