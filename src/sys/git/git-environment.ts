import type { Environment } from '../env.ts';

/** The restrictions on a command that may run git. */
export interface GitLimits {
  /**
   * `read-only`: the command only looks at the repository. `workspace`: programs that the user allowed still
   * work.
   */
  readonly access: 'read-only' | 'workspace';
  /** True if a sandbox confines the command. */
  readonly confined: boolean;
}

type Pair = readonly [key: string, value: string];

/**
 * No prompts, pagers or editors, since nobody is there to use them, and no monitors or transports of the
 * repository.
 */
const ALWAYS: readonly Pair[] = [
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.editor', 'true'],
  ['protocol.ext.allow', 'never'],
];

/** Disables the hooks of the repository and bare repositories inside the workspace. */
const READ_ONLY: readonly Pair[] = [
  ['core.hooksPath', '/dev/null'],
  ['safe.bareRepository', 'explicit'],
];

/**
 * An empty program prevents git from running the repository's program, but makes `git diff` fail without
 * `--no-ext-diff`. In a read-only sandbox the program can do no harm, and the diff works.
 */
const UNCONFINED: readonly Pair[] = [['diff.external', '']];

/**
 * Builds variables that keep git from running programs that a hostile repository names. They override every
 * configuration file. They do not affect drivers by name (`diff.NAME.command`, `filter.NAME.clean`), which only
 * a sandbox stops.
 */
export function buildGitEnvironment({ access, confined }: GitLimits): Environment {
  const isReadOnly = access === 'read-only';
  const pairs = [
    ...ALWAYS,
    ...(isReadOnly ? READ_ONLY : []),
    ...(isReadOnly && !confined ? UNCONFINED : []),
  ];
  return {
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'true',
    PAGER: 'cat',
    ...(isReadOnly ? { GIT_OPTIONAL_LOCKS: '0', GIT_ATTR_NOSYSTEM: '1' } : {}),
    GIT_CONFIG_COUNT: String(pairs.length),
    ...Object.fromEntries(
      pairs.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}
