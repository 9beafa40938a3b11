import { join } from 'node:path';
import {
  ownerOfDirectory,
  PRODUCT_HOMES,
  type DirectoryOwner,
} from '../../agents/loader/user-directories.ts';
import type { SearchContext } from '../../agents/loader/search-context.ts';

/** Where a context file may lie. Most places are empty: what a file there needs is worked out when there is one. */
export interface ContextLocation {
  /** Absolute; the first that is there counts. */
  readonly paths: readonly string[];
  /** How near it is to the work: where there is not room for all, a higher one goes first. */
  readonly level: number;
  /** Whose a file there is, and the directory (absolute) that neither a link nor an import leads out of. */
  readonly owner: (path: string) => DirectoryOwner;
}

/** Codex reads its override in the other's place. */
const AGENTS = ['AGENTS.override.md', 'AGENTS.md'];

/** What products document for any directory of a project, in the order in which they are told. */
const IN_DIRECTORY: readonly (readonly string[])[] = [
  AGENTS,
  ['.github/copilot-instructions.md'],
  ['GEMINI.md'],
  ['QWEN.md'],
  ['CLAUDE.md'],
  ['.claude/CLAUDE.md'],
  ['CLAUDE.local.md'],
];

/** All places for work there: the user's own first, then from the root of the project down. */
export function contextLocations({
  user,
  directories,
  root,
}: SearchContext): readonly ContextLocation[] {
  const ofProject = (): DirectoryOwner => ({ scope: 'project', boundary: root });
  const ofUser = (path: string): DirectoryOwner => ownerOfDirectory(path, user, root);
  const placesIn = (
    directory: string,
    names: readonly (readonly string[])[],
    rest: Omit<ContextLocation, 'paths'>,
  ): readonly ContextLocation[] =>
    names.map((alike) => ({ paths: alike.map((name) => `${directory}/${name}`), ...rest }));
  const { claude, codex, copilot, gemini, pi, qwen } = PRODUCT_HOMES;
  const others = { level: 0, owner: ofUser };
  return [
    ...placesIn(copilot(user), [['copilot-instructions.md']], others),
    ...placesIn(gemini(user), [['GEMINI.md']], others),
    ...placesIn(qwen(user), [['QWEN.md']], others),
    ...placesIn(join(user.config, 'opencode'), [['AGENTS.md']], others),
    ...placesIn(pi(user), [['AGENTS.md']], others),
    ...placesIn(codex(user), [AGENTS], others),
    ...placesIn(claude(user), [['CLAUDE.md']], others),
    ...placesIn(join(user.config, 'muster'), [['AGENTS.md']], { level: 1, owner: ofUser }),
    ...directories
      .toReversed()
      .flatMap((directory, index) =>
        placesIn(directory, IN_DIRECTORY, { level: 2 + index, owner: ofProject }),
      ),
  ];
}
