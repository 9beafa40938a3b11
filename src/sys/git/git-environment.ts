import type { Environment } from '../env.ts';

/** The restrictions on a command that may run git. */
export interface GitLimits {
  /**
   * `read-only`: the command only reads the repository. `workspace`: the command may change the repository, and hooks
   * still work.
   */
  readonly access: 'read-only' | 'workspace';
  /** True if a sandbox confines the command. */
  readonly confined: boolean;
}

type Pair = readonly [key: string, value: string];

/**
 * Settings for every command. They disable pagers and editors, because nobody is there to use them, and the monitors
 * and transports that a repository configures.
 */
const ALWAYS: readonly Pair[] = [
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.editor', 'true'],
  ['protocol.ext.allow', 'never'],
];

/** Settings for read-only access. They disable hooks, and bare repositories inside the workspace. */
const READ_ONLY: readonly Pair[] = [
  ['core.hooksPath', '/dev/null'],
  ['safe.bareRepository', 'explicit'],
];

/**
 * Settings for read-only access without a sandbox. The empty value prevents git from running a diff program that the
 * repository names, but makes `git diff` fail without `--no-ext-diff`. In a read-only sandbox such a program can do no
 * harm, so there the setting is not needed.
 */
const UNCONFINED: readonly Pair[] = [['diff.external', '']];

/**
 * Builds environment variables that keep git from running programs that a hostile repository names. The variables
 * override every configuration file. They do not affect named drivers (`diff.NAME.command`, `filter.NAME.clean`):
 * only a sandbox confines those.
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
