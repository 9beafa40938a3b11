import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { errorMessage, systemErrorCode } from '../base/errors.ts';
import {
  readProjectFile,
  type ProjectFileReading,
  type ProjectFileRequest,
  type ProjectTrust,
  type UntrustedVerdict,
} from '../sys/files/project-file.ts';
import { readWithLimit } from '../sys/files/read-at-most.ts';

/** The maximum number of bytes of one settings file. */
export const MAX_SETTINGS_BYTES = 262_144;

export type SettingsReading =
  | { readonly kind: 'absent' }
  | { readonly kind: 'untrusted'; readonly verdict: UntrustedVerdict }
  /** The file exists and cannot be used. The message follows its path. */
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'read'; readonly text: string };

/** Reads a settings file of the user. Links are followed. */
export function readUserSettingsFile(path: string): SettingsReading {
  let descriptor: number;
  try {
    // Non-blocking: a FIFO in this place must not hang the start.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
    return broken(`cannot be opened (${code ?? errorMessage(error)})`);
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return broken('not a regular file');
    const bytes = readWithLimit(descriptor, MAX_SETTINGS_BYTES);
    if (bytes !== undefined) return settingsText(bytes);
    return broken(`${stats.size} bytes; a configuration file has at most ${MAX_SETTINGS_BYTES}`);
  } catch (error) {
    return broken(`cannot be read: ${errorMessage(error)}`);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads a settings file of a project if the user has trusted it. */
export function readProjectSettingsFile(
  request: Omit<ProjectFileRequest, 'maxBytes'>,
  trust: ProjectTrust,
): SettingsReading {
  return settingsReading(readProjectFile({ ...request, maxBytes: MAX_SETTINGS_BYTES }, trust));
}

function settingsReading(reading: ProjectFileReading): SettingsReading {
  switch (reading.kind) {
    case 'absent':
    case 'untrusted':
      return reading;
    case 'refused':
      return broken(reading.reason);
    case 'read':
      return settingsText(reading.bytes);
  }
}

function settingsText(bytes: Buffer): SettingsReading {
  try {
    return { kind: 'read', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    // The decoder throws for nothing else.
    return broken('not UTF-8 text');
  }
}

function broken(message: string): SettingsReading {
  return { kind: 'broken', message };
}
