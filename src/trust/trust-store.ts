import { join } from 'node:path';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import type { ProjectFileKind, ProjectFileName } from '../sys/files/project-file.ts';
import { StateFile } from './state-file.ts';

/** The content of a file that the user has approved. */
export interface TrustEntry extends ProjectFileName {
  /** Hexadecimal hash of the content. */
  readonly sha256: string;
  /** The root of the project of the file, without links. */
  readonly project: string;
  /** The time of the approval, ISO 8601. */
  readonly trustedOn: string;
}

const FILE_NAME = 'trust.json';
const VERSION = 1;

/** Returns the path of the approvals in a state directory. */
export function trustFile(directory: string): string {
  return join(directory, FILE_NAME);
}

const KINDS: ReadonlySet<string> = new Set<ProjectFileKind>([
  'config',
  'permissions',
  'agent',
  'skill',
  'template',
  'memory',
]);

/** The approvals of all projects, in one file of the state directory. */
export class TrustStore {
  readonly #file: StateFile;

  constructor(directory: string) {
    this.#file = new StateFile(directory, FILE_NAME);
  }

  /** Returns all approvals. Throws MusterError for a file that is damaged or not the user's own. */
  entries(): readonly TrustEntry[] {
    return this.#parse(this.#file.read());
  }

  /** Saves approvals, which replace earlier ones of the same files. */
  approve(entries: readonly TrustEntry[]): void {
    const names = new Set(entries.map(entryKey));
    this.#change((before) => [...before.filter((each) => !names.has(entryKey(each))), ...entries]);
  }

  /** Revokes approvals, and returns them. */
  revoke(isMeant: (entry: TrustEntry) => boolean): readonly TrustEntry[] {
    let revoked: readonly TrustEntry[] = [];
    this.#change((before) => {
      revoked = before.filter(isMeant);
      return before.filter((entry) => !isMeant(entry));
    });
    return revoked;
  }

  #change(change: (before: readonly TrustEntry[]) => readonly TrustEntry[]): void {
    this.#file.update((text) => {
      const files = change(this.#parse(text));
      return `${JSON.stringify({ version: VERSION, files }, null, 2)}\n`;
    });
  }

  #parse(text: string | undefined): readonly TrustEntry[] {
    if (text === undefined) return [];
    const value = parseJsonLine(text);
    if (!isJsonObject(value)) throw this.#file.damaged('it holds no JSON object');
    const { version, files } = value;
    if (version !== VERSION) throw this.#file.damaged(`its version is not ${VERSION}`);
    if (!Array.isArray(files)) throw this.#file.damaged('it holds no list of files');
    return files.map((each: JsonValue, index) => {
      const entry = readEntry(each);
      if (entry === undefined) throw this.#file.damaged(`entry ${index + 1} is none`);
      return entry;
    });
  }
}

/** Returns a key for a file as one kind of file. */
export function entryKey({ kind, path }: ProjectFileName): string {
  return `${kind} ${path}`;
}

function readEntry(value: JsonValue): TrustEntry | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind, path, sha256, project, trustedOn } = value;
  if (
    !isKind(kind) ||
    typeof path !== 'string' ||
    typeof sha256 !== 'string' ||
    typeof project !== 'string' ||
    typeof trustedOn !== 'string' ||
    !/^[0-9a-f]{64}$/.test(sha256) ||
    !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(trustedOn)
  ) {
    return undefined;
  }
  return { kind, path, sha256, project, trustedOn };
}

function isKind(value: unknown): value is ProjectFileKind {
  return typeof value === 'string' && KINDS.has(value);
}
