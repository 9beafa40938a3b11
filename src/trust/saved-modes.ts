import { MusterError } from '../base/errors.ts';
import { PERMISSION_MODES, type ModeGrant, type PermissionMode } from '../protocol/permission.ts';
import {
  openApprovalList,
  readApprovals,
  type ApprovalReaderOptions,
  APPROVE_AGAIN,
} from './approval-list.ts';
import type { ListFormat } from '../store/state/state-list.ts';

/** A mode that the user has granted to an agent for all conversations. */
export interface SavedMode {
  readonly agent: string;
  readonly mode: PermissionMode;
  /** The absolute path of the definition's file, or `builtin:NAME`, or `session:NAME`. */
  readonly path: string;
  /**
   * The SHA-256 hash of the definition in hexadecimal, or null if the file is the user's own, so that the mode applies
   * whatever the file contains.
   */
  readonly sha256: string | null;
  /** The time of the answer, in ISO 8601. */
  readonly answeredOn: string;
}

/** Returns the name of a saved mode in commands and lists: `AGENT=MODE`. */
export function savedModeName({ agent, mode }: Pick<SavedMode, 'agent' | 'mode'>): string {
  return `${agent}=${mode}`;
}

/** The format of the file with the saved modes. */
export const SAVED_MODES: ListFormat<SavedMode> = {
  fileName: 'agent-modes.json',
  remedy: APPROVE_AGAIN,
  listName: 'modes',
  keyOf: ({ agent, path }) => JSON.stringify([agent, path]),
  describeInvalid: (position) => `entry ${position} is not a valid mode grant`,
  read({ agent, mode: name, path, sha256, answeredOn }) {
    const mode = PERMISSION_MODES.find((each) => each === name);
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
  },
};

/** The saved modes, as a run reads and extends them. */
export interface SavedModes {
  all(): readonly ModeGrant[];
  /** Saves a grant. Throws MusterError if it cannot be saved. */
  add(grant: ModeGrant): ModeGrant;
}

/** Opens the saved modes for a run. If the file cannot be read, no saved mode applies. */
export function openSavedModes(options: ApprovalReaderOptions): SavedModes {
  return {
    all: () => {
      const problem = 'no saved mode of an agent applies';
      const { path, entries } = readApprovals(options, SAVED_MODES, problem);
      return entries.map((each) => toModeGrant(each, path));
    },
    add: ({ agent, mode, definition }) => {
      if (definition === null) {
        throw new MusterError(
          'INTERNAL_ERROR',
          `the mode of ${agent} cannot be saved, because it names no definition`,
        );
      }
      const list = openApprovalList(options, SAVED_MODES);
      const saved = { agent, mode, ...definition, answeredOn: new Date().toISOString() };
      list.add([saved]);
      return toModeGrant(saved, list.path);
    },
  };
}

function toModeGrant({ agent, mode, path, sha256 }: SavedMode, where: string): ModeGrant {
  return { agent, mode, definition: { path, sha256 }, source: { kind: 'answer', where } };
}
