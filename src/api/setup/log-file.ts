import { isAbsolute, join } from 'node:path';
import type { LoadedConfig } from '../../config/load.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { LogRecord } from '../../telemetry/log-records.ts';

/** The log file of a session. */
export interface SessionLogFile {
  /** Begins to write. Until then, lines are only collected. */
  start(): void;
  add(record: LogRecord): void;
  addEvent(event: TaskEvent): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

interface LogFileOptions {
  readonly config: LoadedConfig['config']['log'];
  /** True to write everything, into a file in the data directory if the configuration names none. */
  readonly debug: boolean;
  /** True if the session may keep files in its data directory. */
  readonly keepsFiles: boolean;
  readonly home: string;
  /** The data directory. Absolute. */
  readonly directory: string;
  readonly redact: (text: string) => string;
  /** Reports a line to the user without adding it to the log file. */
  readonly onNotice: (line: string) => void;
}

/** Opens the log file of a session. Returns null, and loads nothing, if none is wanted. */
export async function openLogFile(options: LogFileOptions): Promise<SessionLogFile | null> {
  const { config, debug, keepsFiles, home, directory, redact, onNotice } = options;
  if (config.file === null && !debug) return null;
  if (config.file === null && !keepsFiles) {
    onNotice('no debug log is written, because the run keeps no files: set log.file');
    return null;
  }
  const path = toLogPath(config.file ?? 'muster.log', { home, directory });
  if (debug) onNotice(`debug log: ${path}`);
  const { LogFile } = await import('../../telemetry/log-file.ts');
  const level = debug ? 'debug' : config.level;
  return new LogFile({ path, level, redact, now: Date.now, onProblem: onNotice });
}

/** Returns the absolute path of a log file. `~/` is the home directory; other relative paths are in the data directory. */
function toLogPath(
  file: string,
  { home, directory }: Pick<LogFileOptions, 'home' | 'directory'>,
): string {
  if (file.startsWith('~/')) return join(home, file.slice(2));
  return isAbsolute(file) ? file : join(directory, file);
}
