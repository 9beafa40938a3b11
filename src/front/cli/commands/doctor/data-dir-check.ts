import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorMessage, systemErrorCode } from '../../../../base/errors.ts';
import { terminalText } from '../../../../base/terminal-text.ts';
import { fail, ok, warn, type Check } from './check.ts';

const NAME = 'data directory';
const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_OTHERS = 0o077;

/** Whether logs can be written there, and by nobody else. Makes and changes nothing. */
export function dataDirCheck(path: string, uid: number | undefined): Check {
  const shown = terminalText(path, 'exact');
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return absentCheck(path);
    if (!stats.isDirectory())
      return fail(NAME, `${shown} is not a directory`, 'choose another: --data-dir');
    if (uid !== undefined && stats.uid !== uid) {
      return fail(
        NAME,
        `${shown} belongs to another user (${stats.uid})`,
        'choose another: --data-dir',
      );
    }
    accessSync(path, constants.W_OK | constants.X_OK);
    const mode = stats.mode & 0o777;
    const shownMode = `mode ${mode.toString(8).padStart(4, '0')}`;
    const fix = `chmod 700 ${JSON.stringify(path)}`;
    if ((mode & WRITABLE_BY_OTHERS) !== 0) {
      return fail(NAME, `${shown} can be written by others (${shownMode})`, fix);
    }
    if ((mode & OPEN_TO_OTHERS) !== 0) {
      return warn(NAME, `${shown} can be read by others (${shownMode})`, fix);
    }
    return ok(NAME, `${shown}, writable, ${shownMode}`);
  } catch (error) {
    return fail(
      NAME,
      `${shown}: ${systemErrorCode(error) ?? errorMessage(error)}`,
      'choose another: --data-dir',
    );
  }
}

/** It will be made on the first run: what counts is the nearest directory that is there. */
function absentCheck(path: string): Check {
  let parent = dirname(path);
  while (statSync(parent, { throwIfNoEntry: false }) === undefined && parent !== dirname(parent)) {
    parent = dirname(parent);
  }
  accessSync(parent, constants.W_OK | constants.X_OK);
  return ok(NAME, `${terminalText(path, 'exact')}, made on the first run`);
}
