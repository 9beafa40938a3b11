import { isId } from '../base/ids.ts';
import type { FilePort } from './files/file-port.ts';
import { taskNames } from './index/list-tasks.ts';

/** The tasks that have a lock. A look at the time of change tells whether the names have to be read. */
export class LockedTasks {
  readonly #files: FilePort;
  readonly #directory: string;
  #modified = -1;
  #ids: readonly string[] = [];
  #isSettled = false;

  constructor(files: FilePort, directory: string) {
    this.#files = files;
    this.#directory = directory;
  }

  read(): readonly string[] {
    const modified = this.#files.stat(this.#directory)?.modified ?? -1;
    if (modified === this.#modified && this.#isSettled) return this.#ids;
    // Once more after a change: a second one in the same tick of the file system's clock has its time.
    this.#isSettled = modified === this.#modified;
    this.#modified = modified;
    const { locked } = taskNames(this.#files, this.#directory);
    this.#ids = [...locked].filter(isId);
    return this.#ids;
  }
}
