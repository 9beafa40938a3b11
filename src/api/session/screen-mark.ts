import * as fs from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';

/**
 * The mark of a terminal that shows the screen of this process. A process that is killed leaves its mark, so that the
 * next one knows that the terminal has to be restored.
 */
export interface ScreenMark {
  /** Returns whether a process that is gone has left its screen on this terminal, and removes its mark. */
  takeLeft(): boolean;
  /** Marks the terminal of this process. */
  set(): void;
  remove(): void;
}

/** The mark of a session that keeps no log. */
export const NO_SCREEN_MARK: ScreenMark = {
  takeLeft: () => false,
  set: () => {},
  remove: () => {},
};

/**
 * Opens the marks in the state directory (absolute): one empty file for each process, named after the device of the
 * terminal and the process. A mark is a convenience, so that failures of the file system are ignored.
 */
export function openScreenMark(directory: string): ScreenMark {
  const marks = join(directory, 'screens');
  const terminal = findTerminal();
  if (terminal === null) return NO_SCREEN_MARK;
  const own = join(marks, `${terminal.device}-${process.pid}`);
  return {
    takeLeft: () => {
      let isLeft = false;
      for (const name of listNames(marks)) {
        const [device, pid] = name.split('-').map(Number);
        if (device !== terminal.device || pid === undefined || isRunning(pid)) continue;
        const path = join(marks, name);
        const setAt = fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
        // A terminal that was created after the mark has only the number of the earlier one.
        isLeft ||= setAt >= terminal.createdAt;
        fs.rmSync(path, { force: true });
      }
      return isLeft;
    },
    set: () =>
      ignoringFileErrors(() => {
        fs.mkdirSync(marks, { recursive: true, mode: 0o700 });
        fs.writeFileSync(own, '', { flag: 'wx', mode: 0o600 });
      }),
    remove: () => ignoringFileErrors(() => fs.rmSync(own, { force: true })),
  };
}

/** Returns the device number of the terminal to which this process writes, and the time of its creation. */
function findTerminal(): { readonly device: number; readonly createdAt: number } | null {
  if (process.stdout.isTTY !== true) return null;
  const { rdev: device, ctimeMs: createdAt } = fs.fstatSync(process.stdout.fd);
  return { device, createdAt };
}

function listNames(directory: string): readonly string[] {
  try {
    return fs.readdirSync(directory);
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return [];
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return systemErrorCode(thrown) !== 'ESRCH';
  }
}

function ignoringFileErrors(act: () => void): void {
  try {
    act();
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
  }
}
