import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { errorMessage } from '../../../../base/errors.ts';
import { terminalText } from '../../../../base/terminal-text.ts';
import type { Environment } from '../../../../sys/env.ts';
import type { SandboxState } from '../../../../sys/sandbox/sandbox.ts';
import { fail, ok, warn, type Check } from './check.ts';

const NEEDED_NODE = { major: 22, minor: 19 };

export function nodeCheck(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const needed = `${NEEDED_NODE.major}.${NEEDED_NODE.minor}`;
  const enough =
    major > NEEDED_NODE.major || (major === NEEDED_NODE.major && minor >= NEEDED_NODE.minor);
  return enough
    ? ok('node', `${version} (${needed} or newer is needed)`)
    : fail('node', `${version} is too old`, `install Node ${needed} or newer`);
}

export function gitCheck(environment: Environment): Check {
  const path = findProgram('git', environment);
  return path === undefined
    ? warn('git', 'not found: prompts will hold no git status', 'install git')
    : ok('git', terminalText(path, 'exact'));
}

const SANDBOX_NAMES = { bwrap: 'bubblewrap', seatbelt: 'seatbelt' } as const;

/** What was seen when it was tried out. */
export function sandboxCheck(state: SandboxState): Check {
  if (!state.on && state.instead === 'container') {
    return ok('sandbox', 'this machine, by your word: commands run in it as they are');
  }
  return state.on
    ? ok('sandbox', `${SANDBOX_NAMES[state.kind]}: tried out, and it holds`)
    : warn(
        'sandbox',
        terminalText(
          `none, nothing confines shell commands but the permission rules: ${state.because}`,
          'exact',
        ),
        terminalText(state.hint, 'exact'),
      );
}

/** Checks that ripgrep can be run. `locate` resolves to its path, or rejects where the package is missing. */
export async function ripgrepCheck(locate: () => Promise<string>): Promise<Check> {
  try {
    const path = await locate();
    accessSync(path, constants.X_OK);
    return ok('ripgrep', terminalText(path, 'exact'));
  } catch (error) {
    return fail(
      'ripgrep',
      `not usable (${terminalText(errorMessage(error), 'exact')}): Grep, Glob and file lists do not work`,
      'install Muster again with its optional dependencies',
    );
  }
}

/** Relative entries of PATH are passed over, as where commands are run. */
export function findProgram(name: string, environment: Environment): string | undefined {
  return (environment['PATH'] ?? '')
    .split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there or not ours to run: the search goes on.
    return false;
  }
}
