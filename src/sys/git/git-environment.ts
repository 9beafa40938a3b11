import type { Environment } from '../env.ts';

/** How a command that may run git is held. */
export interface GitLimits {
  /** `read-only`: it is only looked at; `workspace`: what the user allowed goes on working. */
  readonly access: 'read-only' | 'workspace';
  /** Whether a sandbox holds the command. */
  readonly confined: boolean;
}

type Pair = readonly [key: string, value: string];

/** Nobody is there to be asked, to page or to edit; and no monitor or transport of the repository runs. */
const ALWAYS: readonly Pair[] = [
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.editor', 'true'],
  ['protocol.ext.allow', 'never'],
];

/** Neither its hooks, nor a bare repository that lies in the workspace. */
const READ_ONLY: readonly Pair[] = [
  ['core.hooksPath', '/dev/null'],
  ['safe.bareRepository', 'explicit'],
];

/**
 * An empty program keeps git from running the repository's, but `git diff` then fails without
 * `--no-ext-diff`. In a read-only sandbox the program can do no harm, and the diff comes.
 */
const UNCONFINED: readonly Pair[] = [['diff.external', '']];

/**
 * Variables that keep git from running programs that a hostile repository names. They go before every configuration file, and do not reach drivers by name
 * (`diff.NAME.command`, `filter.NAME.clean`), which only a sandbox stops.
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
