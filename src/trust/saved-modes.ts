import { MusterError, UsageError } from '../base/errors.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { PERMISSION_MODES, type ModeGrant, type PermissionMode } from '../protocol/permission.ts';
import { StateFile } from './state-file.ts';
import { approvalDirectory, type StateOptions } from './state-directory.ts';

/** A mode that an answer gave an agent for every conversation. */
export interface SavedMode {
  readonly agent: string;
  readonly mode: PermissionMode;
  /** Absolute path of the definition's file, or `builtin:NAME`, or `session:NAME`. */
  readonly path: string;
  /**
   * SHA-256 (hex) of the definition, or null if the file is the user's own, and any content counts.
   */
  readonly sha256: string | null;
  /** The time of the answer, ISO 8601. */
  readonly answeredOn: string;
}

/** Returns the name that a person uses for the grant. */
export function savedModeName({ agent, mode }: Pick<SavedMode, 'agent' | 'mode'>): string {
  return `${agent}=${mode}`;
}

const FILE_NAME = 'agent-modes.json';
const VERSION = 1;

/** The modes that answers gave to agents, in one file of the state directory. */
export class ModeStore {
  readonly #file: StateFile;

  constructor(directory: string) {
    this.#file = new StateFile(directory, FILE_NAME);
  }

  get path(): string {
    return this.#file.path;
  }

  /**
   * Returns all saved modes. Throws MusterError for a file that is damaged or not the user's own.
   */
  all(): readonly SavedMode[] {
    return this.#parse(this.#file.read());
  }

  /** Replaces what was granted to the same definition before. */
  add(mode: SavedMode): void {
    this.#change((before) => [...before.filter((each) => !isSameAgent(each, mode)), mode]);
  }

  /** Removes modes, and returns them. */
  remove(isMeant: (mode: SavedMode) => boolean): readonly SavedMode[] {
    let removed: readonly SavedMode[] = [];
    this.#change((before) => {
      removed = before.filter(isMeant);
      return before.filter((each) => !isMeant(each));
    });
    return removed;
  }

  #change(change: (before: readonly SavedMode[]) => readonly SavedMode[]): void {
    this.#file.update((text) => {
      const modes = change(this.#parse(text));
      return `${JSON.stringify({ version: VERSION, modes }, null, 2)}\n`;
    });
  }

  #parse(text: string | undefined): readonly SavedMode[] {
    if (text === undefined) return [];
    const value = parseJsonLine(text);
    if (!isJsonObject(value)) throw this.#file.damaged('it holds no JSON object');
    const { version, modes } = value;
    if (version !== VERSION) throw this.#file.damaged(`its version is not ${VERSION}`);
    if (!Array.isArray(modes)) throw this.#file.damaged('it holds no list of modes');
    return modes.map((each: JsonValue, index) => {
      const mode = readMode(each);
      if (mode === undefined) throw this.#file.damaged(`entry ${index + 1} grants no mode`);
      return mode;
    });
  }
}

function isSameAgent(a: SavedMode, b: SavedMode): boolean {
  return a.agent === b.agent && a.path === b.path;
}

function readMode(value: JsonValue): SavedMode | undefined {
  if (!isJsonObject(value)) return undefined;
  const { agent, mode: word, path, sha256, answeredOn } = value;
  const mode = PERMISSION_MODES.find((each) => each === word);
  if (
    mode === undefined ||
    typeof agent !== 'string' ||
    typeof path !== 'string' ||
    (typeof sha256 !== 'string' && sha256 !== null) ||
    typeof answeredOn !== 'string'
  ) {
    return undefined;
  }
  return { agent, mode, path, sha256, answeredOn };
}

export interface SavedModes {
  all(): readonly ModeGrant[];
  /** Saves a grant. Throws MusterError if it cannot be saved. */
  add(grant: ModeGrant): ModeGrant;
}

interface SavedModesOptions extends StateOptions {
  /** Called with one line that says why no grant counts. */
  readonly onProblem: (message: string) => void;
}

/**
 * Opens the saved modes for a run. A file that cannot be read grants nothing, and does not stop the run.
 */
export function openSavedModes(options: SavedModesOptions): SavedModes {
  return {
    all: () => {
      try {
        const store = new ModeStore(approvalDirectory(options));
        return store.all().map((each) => grantOf(each, store.path));
      } catch (thrown) {
        if (!(thrown instanceof MusterError)) throw thrown;
        // A directory that was chosen in the project holds no approvals, and whoever chose it is told elsewhere.
        if (!(thrown instanceof UsageError)) {
          options.onProblem(`no saved mode of an agent counts: ${thrown.message}`);
        }
        return [];
      }
    },
    add: ({ agent, mode, definition }) => {
      if (definition === null) {
        throw new MusterError('INTERNAL_ERROR', `the mode of ${agent} is for no one definition`);
      }
      const store = new ModeStore(approvalDirectory(options));
      const saved = { agent, mode, ...definition, answeredOn: new Date().toISOString() };
      store.add(saved);
      return grantOf(saved, store.path);
    },
  };
}

function grantOf({ agent, mode, path, sha256 }: SavedMode, where: string): ModeGrant {
  return { agent, mode, definition: { path, sha256 }, source: { kind: 'answer', where } };
}
