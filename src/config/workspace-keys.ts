import { booleanKey, choiceKey, integerKey, listKey, optionalKey, textKey } from './key-kinds.ts';

/** The keys of the section `workspaces`, about the separate trees in which isolated tasks work. */
export const WORKSPACE_KEYS = {
  uncommitted: booleanKey(
    true,
    'begin a worktree with the changes that are not committed, as in the directory of the parent',
  ),
  packages: choiceKey(
    'link',
    ['link', 'copy', 'none'],
    'what a workspace gets of the directories of installed packages: links (read-only in the sandbox; none if setup is set) or copies',
  ),
  package_directories: listKey({
    default: ['node_modules'],
    combine: 'replace',
    acceptsItem: (name) => /^[^/\0]+$/.test(name) && !['.', '..', '.git'].includes(name),
    expects: 'a list of names of directories, as in "node_modules"',
    meaning: 'directories of installed packages, at any depth, if git ignores them',
  }),
  setup: optionalKey(
    textKey(
      'a command line',
      'what prepares a new workspace, such as "npm ci"; package directories are then not linked',
    ),
    'nothing',
  ),
  max_copy_bytes: integerKey(
    524_288_000,
    [0, 1_000_000_000_000],
    'the size of a directory without a repository that is copied where blocks cannot be shared',
    { project: 'never' },
  ),
  max_copy_files: integerKey(50_000, [0, 100_000_000], 'the number of its files', {
    project: 'never',
  }),
} as const;
