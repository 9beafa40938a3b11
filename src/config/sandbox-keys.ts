import { isPassableToCommands } from '../sys/processes/command-environment.ts';
import { booleanKey, choiceKey, listKey } from './key-kinds.ts';

/** The keys of the section `sandbox` of the configuration. A project's own file may set none of them. */
export const SANDBOX_KEYS = {
  kind: choiceKey('auto', ['auto', 'bwrap', 'seatbelt', 'container', 'off'], {
    project: 'never',
    meaning:
      'what confines shell commands; "auto": what this system has; "container": the machine itself',
  }),
  network: booleanKey(false, {
    project: 'never',
    meaning: 'network for shell commands in the sandbox',
  }),
  caches: choiceKey('private', ['private', 'shared'], {
    project: 'never',
    meaning:
      'caches of package managers that shell commands use: "private", of their own, or "shared", yours, through which a command can reach what you run',
  }),
  env: listKey({
    project: 'never',
    combine: 'replace',
    expects:
      'a list of variable names, none of which tells programs what to run (BASH_ENV, GIT_*, LD_PRELOAD, RIPGREP_CONFIG_PATH, …)',
    takes: isPassableToCommands,
    meaning: 'further environment variables that shell commands see',
  }),
} as const;
