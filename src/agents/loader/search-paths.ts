import { join } from 'node:path';
import {
  claudeFormat,
  FORMATS,
  genFormat,
  musterFormat,
  subagentFormat,
  VENDOR_FORMATS,
} from '../formats/vendors.ts';
import type { AgentFormat } from './kind.ts';
import type { Place } from '../place.ts';
import { pluginPlaces } from './plugins.ts';
import type { Surroundings } from './search-context.ts';
import { ownerOf, type UserDirectories } from './user-directories.ts';

/** Every place to look in, first wins (docs/agents.md, "Search order"). Looks at what is installed. */
export function agentPlaces(around: Surroundings): readonly Place[] {
  const { user, chain } = around;
  const own = [musterFormat, genFormat, claudeFormat];
  const userPaths = new Set(FORMATS.flatMap(({ places }) => places.user(user)));
  const ofProject = (format: AgentFormat): readonly Place[] =>
    projectPlaces(format, chain).filter(({ path }) => !userPaths.has(path));
  return [
    ...own.flatMap((format) => ofProject(format).concat(userPlaces(format, user, chain))),
    ...VENDOR_FORMATS.flatMap(ofProject),
    ...VENDOR_FORMATS.flatMap((format) => userPlaces(format, user, chain)),
    ...ofProject(subagentFormat),
    ...pluginPlaces(around),
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

function userPlaces(
  format: AgentFormat,
  user: UserDirectories,
  chain: readonly string[],
): readonly Place[] {
  const root = chain.at(-1) ?? '/';
  return format.places.user(user).map((path): Place => {
    const { scope, boundary } = ownerOf(path, user, root);
    return { format, scope, path, boundary };
  });
}
