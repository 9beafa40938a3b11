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

/** The result of reading a settings file. */
export type SettingsReading =
  | { readonly kind: 'absent' }
  | { readonly kind: 'untrusted'; readonly verdict: UntrustedVerdict }
  /** The file exists, but cannot be used. The message is shown after the path of the file. */
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'read'; readonly text: string };

/** Reads a settings file of the user. Links are followed. */
export function readUserSettingsFile(path: string): SettingsReading {
  let descriptor: number;
  try {
    // Open without blocking, so that a FIFO at this path cannot hang the start.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
    return brokenReading(`cannot be opened (${code ?? errorMessage(error)})`);
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return brokenReading('not a regular file');
    const bytes = readWithLimit(descriptor, MAX_SETTINGS_BYTES);
    if (bytes !== undefined) return decodeSettings(bytes);
    return brokenReading(
      `${stats.size} bytes; a configuration file has at most ${MAX_SETTINGS_BYTES}`,
    );
  } catch (error) {
    return brokenReading(`cannot be read: ${errorMessage(error)}`);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads a settings file of a project if the user has trusted it. */
export function readProjectSettingsFile(
  request: Omit<ProjectFileRequest, 'maxBytes'>,
  trust: ProjectTrust,
): SettingsReading {
  return toSettingsReading(readProjectFile({ ...request, maxBytes: MAX_SETTINGS_BYTES }, trust));
}

function toSettingsReading(reading: ProjectFileReading): SettingsReading {
  switch (reading.kind) {
    case 'absent':
    case 'untrusted':
      return reading;
    case 'refused':
      return brokenReading(reading.reason);
    case 'read':
      return decodeSettings(reading.bytes);
  }
}

function decodeSettings(bytes: Buffer): SettingsReading {
  try {
    return { kind: 'read', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    // The decoder throws only if the bytes are not valid UTF-8.
    return brokenReading('not UTF-8 text');
  }
}

function brokenReading(message: string): SettingsReading {
  return { kind: 'broken', message };
}
