import { accessSync, constants } from 'node:fs';
import { MusterError, systemErrorCode, UsageError } from '../../base/errors.ts';
import { storageError } from '../../store/files/file-port.ts';
import { openFileStore } from '../../store/file-store.ts';
import type { TaskStore } from '../../store/task-store.ts';

type FileStoreOptions = Parameters<typeof openFileStore>[0];

/**
 * Opens the store in a data directory. Throws UsageError if the directory cannot be used, because the user must choose
 * another one. A temporary error, such as a full disk, is thrown unchanged.
 */
export function openDataDirectory(options: FileStoreOptions): TaskStore {
  return withUsageErrors(() => openFileStore(options));
}

interface SessionStoreOptions {
  /** Whether it is an error that nothing can be written to the directory. */
  readonly isRequired: boolean;
  readonly onNotice: (line: string) => void;
}

/**
 * Opens the store of a session, which writes to it. If nothing can be written to the directory (the home directory is
 * read-only or missing) and it is not required, a notice says what is not kept, and the result is null.
 */
export function openSessionStore(
  options: FileStoreOptions,
  { isRequired, onNotice }: SessionStoreOptions,
): TaskStore | null {
  try {
    return withUsageErrors(() => {
      const store = openFileStore(options);
      checkWritable(options.dataDir);
      return store;
    });
  } catch (thrown) {
    if (isRequired || !isUnwritable(thrown)) throw thrown;
    onNotice(
      `this run keeps no log, so it cannot be continued, and its prompts and approvals are not remembered: ${thrown.message}`,
    );
    return null;
  }
}

/** Throws if a directory that exists cannot be written, for example because its file system is read-only. */
function checkWritable(directory: string): void {
  try {
    accessSync(directory, constants.W_OK);
  } catch (thrown) {
    throw storageError('write to', directory, thrown);
  }
}

function withUsageErrors<T>(open: () => T): T {
  try {
    return open();
  } catch (thrown) {
    if (!(thrown instanceof MusterError) || thrown.retryable) throw thrown;
    throw new UsageError(thrown.message, { cause: thrown });
  }
}

const UNWRITABLE = new Set(['EACCES', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS']);

/** Whether an error says that the user cannot write there. A directory that is unsafe is not meant. */
function isUnwritable(thrown: unknown): thrown is UsageError {
  if (!(thrown instanceof UsageError) || !(thrown.cause instanceof MusterError)) return false;
  return UNWRITABLE.has(systemErrorCode(thrown.cause.cause) ?? '');
}
