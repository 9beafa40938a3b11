import { join } from 'node:path';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { ownedPlugins, pluginDirectories } from '../loader/plugins.ts';
import type { Surroundings } from '../loader/search-context.ts';
import { ownerOf, PRODUCT_HOMES, type UserDirectories } from '../loader/user-directories.ts';

/** Where one product's skills lie. */
interface PlaceRow {
  /** Below each directory from the working directory up to the repository's root. */
  readonly project: readonly string[];
  readonly user: (user: UserDirectories) => readonly string[];
}

const MUSTER: PlaceRow = {
  project: ['.muster/skills'],
  user: ({ config }) => [join(config, 'muster', 'skills')],
};

/** The one that products share goes first, then each product's own. */
const OTHERS: readonly PlaceRow[] = [
  sameIn('.agents/skills'),
  homed('.claude/skills', PRODUCT_HOMES.claude),
  {
    project: ['.opencode/skills', '.opencode/skill'],
    user: ({ config }) => [join(config, 'opencode', 'skills'), join(config, 'opencode', 'skill')],
  },
  homed('.github/skills', PRODUCT_HOMES.copilot),
  homed('.gemini/skills', PRODUCT_HOMES.gemini),
  homed('.codex/skills', PRODUCT_HOMES.codex),
  sameIn('.cursor/skills'),
  homed('.qwen/skills', PRODUCT_HOMES.qwen),
  sameIn('.factory/skills'),
  sameIn('.kiro/skills'),
  { project: ['.goose/skills'], user: ({ config }) => [join(config, 'goose', 'skills')] },
  homed('.pi/skills', PRODUCT_HOMES.pi),
];

/** A product whose directory has one name in a project and in the home directory. */
function sameIn(directory: string): PlaceRow {
  return { project: [directory], user: ({ home }) => [join(home, directory)] };
}

/** A product whose directory in the home has another name, or can be elsewhere. */
function homed(directory: string, home: (user: UserDirectories) => string): PlaceRow {
  return { project: [directory], user: (user) => [join(home(user), 'skills')] };
}

/** A directory to look in. It need not exist. */
export interface SkillPlace {
  readonly scope: SkillDefinition['scope'];
  /** Of a plugin: stands before the names of its skills. */
  readonly plugin?: string;
  readonly path: string;
  /** No file outside this directory is read, wherever a link leads. */
  readonly boundary: string;
}

/**
 * Every place to look in, first wins: Muster's own in the project and of the user, then those of other
 * products in the project, then those of the user, then those of plugins. In a project the nearest
 * directory goes first. Looks at what is installed.
 */
export function skillPlaces(around: Surroundings): readonly SkillPlace[] {
  const { user, chain, root: boundary, looks } = around;
  const ofUser = new Set([MUSTER, ...OTHERS].flatMap((row) => row.user(user)));
  const inProject = (rows: readonly PlaceRow[]): readonly SkillPlace[] =>
    chain
      .flatMap((at) => rows.flatMap(({ project }) => project.map((name) => join(at, name))))
      // A home directory that is a repository is still the user's own.
      .filter((path) => !ofUser.has(path))
      .map((path) => ({ scope: 'project', path, boundary }));
  const ofTheUser = (rows: readonly PlaceRow[]): readonly SkillPlace[] =>
    rows
      .flatMap((row) => row.user(user))
      .map((path) => {
        const owner = ownerOf(path, user, boundary);
        return { path, scope: owner.scope, boundary: owner.boundary };
      });
  return [
    ...inProject([MUSTER]),
    ...ofTheUser([MUSTER]),
    ...inProject(OTHERS),
    ...ofTheUser(OTHERS),
    ...ownedPlugins(around).flatMap(({ plugin, scope }) =>
      pluginDirectories(plugin, 'skills', looks).map((path): SkillPlace => ({
        scope,
        plugin: plugin.name,
        path,
        boundary: plugin.root,
      })),
    ),
  ];
}
