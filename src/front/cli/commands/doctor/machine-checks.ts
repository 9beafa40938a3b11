import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { errorMessage, systemErrorCode } from '../../../../base/errors.ts';
import { fail, ok, warn, type Check } from '../../../../protocol/check.ts';
import { NO_HOME, type Environment } from '../../../../sys/env.ts';
import { isInside } from '../../../../base/path-inside.ts';
import type { SandboxState } from '../../../../sys/sandbox/sandbox.ts';

const DATA_DIR = 'data directory';
const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_OTHERS = 0o077;

/**
 * Checks that the user, and nobody else, can write logs to the data directory. Changes nothing. `isChosen`: a flag or
 * `MUSTER_DATA_DIR` names the directory; otherwise, runs that cannot write to it keep no log.
 */
export function dataDirCheck(
  path: string,
  uid: number | undefined,
  { isChosen }: { readonly isChosen: boolean },
): Check {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return absentCheck(path);
    if (!stats.isDirectory())
      return fail(DATA_DIR, `${path} is not a directory`, 'choose another: --data-dir');
    if (uid !== undefined && stats.uid !== uid) {
      return fail(
        DATA_DIR,
        `${path} belongs to another user (${stats.uid})`,
        'choose another: --data-dir',
      );
    }
    accessSync(path, constants.W_OK | constants.X_OK);
    const mode = stats.mode & 0o777;
    const shownMode = `mode ${mode.toString(8).padStart(4, '0')}`;
    const fix = `chmod 700 ${JSON.stringify(path)}`;
    if ((mode & WRITABLE_BY_OTHERS) !== 0) {
      return fail(DATA_DIR, `${path} can be written by others (${shownMode})`, fix);
    }
    if ((mode & OPEN_TO_OTHERS) !== 0) {
      return warn(DATA_DIR, `${path} can be read by others (${shownMode})`, fix);
    }
    return ok(DATA_DIR, `${path}, writable, ${shownMode}`);
  } catch (error) {
    const detail = `${path}: ${systemErrorCode(error) ?? errorMessage(error)}`;
    return isChosen
      ? fail(DATA_DIR, detail, 'choose another: --data-dir')
      : unwritableCheck(detail);
  }
}

function unwritableCheck(detail: string): Check {
  const remedy = 'choose another: --data-dir or MUSTER_DATA_DIR';
  return warn(DATA_DIR, `${detail}: nothing can be written, so runs keep no log`, remedy);
}

/** Checks that the first run can create the directory: the nearest existing parent directory must be writable. */
function absentCheck(path: string): Check {
  if (isInside(NO_HOME, path)) return unwritableCheck('there is no home directory');
  let parent = dirname(path);
  while (statSync(parent, { throwIfNoEntry: false }) === undefined && parent !== dirname(parent)) {
    parent = dirname(parent);
  }
  accessSync(parent, constants.W_OK | constants.X_OK);
  return ok(DATA_DIR, `${path}, created by the first run`);
}

const NEEDED_NODE = { major: 22, minor: 19 };

export function nodeCheck(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const needed = `${NEEDED_NODE.major}.${NEEDED_NODE.minor}`;
  const isNewEnough =
    major > NEEDED_NODE.major || (major === NEEDED_NODE.major && minor >= NEEDED_NODE.minor);
  return isNewEnough
    ? ok('node', `${version} (${needed} or newer is needed)`)
    : fail('node', `${version} is too old`, `install Node ${needed} or newer`);
}

/** Checks that the shell of the Bash tool exists. Returns no check if it does. */
export function shellCheck(shell: string): readonly Check[] {
  return isExecutable(shell)
    ? []
    : [warn('shell', `${shell} is missing: agents cannot run shell commands`, 'install bash')];
}

export function gitCheck(environment: Environment): Check {
  const path = findProgram('git', environment);
  return path === undefined
    ? warn('git', 'not found: prompts will contain no git status', 'install git')
    : ok('git', path);
}

const SANDBOX_NAMES = { bwrap: 'bubblewrap', seatbelt: 'seatbelt' } as const;

/** Reports whether the sandbox worked in a test. */
export function sandboxCheck(state: SandboxState): Check {
  if (!state.on && state.instead === 'container') {
    return ok(
      'sandbox',
      'this machine is the sandbox, as you configured: commands run on it directly',
    );
  }
  return state.on
    ? ok('sandbox', `${SANDBOX_NAMES[state.kind]}: tested, and it works`)
    : warn(
        'sandbox',
        `none, only the permission rules restrict shell commands: ${state.because}`,
        state.hint,
      );
}

/** Checks that ripgrep can be run. `locate` resolves to the path of ripgrep, or rejects if the package is missing. */
export async function ripgrepCheck(locate: () => Promise<string>): Promise<Check> {
  try {
    const path = await locate();
    accessSync(path, constants.X_OK);
    return ok('ripgrep', path);
  } catch (error) {
    return fail(
      'ripgrep',
      `not usable (${errorMessage(error)}): Grep, Glob and file lists do not work`,
      'install Muster again with its optional dependencies',
    );
  }
}

/** Finds a program in the absolute entries of PATH; commands are started from these directories only. */
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
    // The file does not exist or may not be run; the next directory may have the program.
    return false;
  }
}
