import { MusterError } from '../base/errors.ts';
import { PERMISSION_MODES, type ModeGrant, type PermissionMode } from '../protocol/permission.ts';
import {
  openApprovalList,
  readApprovals,
  type ApprovalReaderOptions,
  APPROVE_AGAIN,
} from './approval-list.ts';
import type { ListFormat } from '../store/state/state-list.ts';

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

/** The file of the modes that answers gave to agents. */
export const SAVED_MODES: ListFormat<SavedMode> = {
  fileName: 'agent-modes.json',
  remedy: APPROVE_AGAIN,
  listName: 'modes',
  keyOf: ({ agent, path }) => JSON.stringify([agent, path]),
  describeInvalid: (position) => `entry ${position} grants no mode`,
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

export interface SavedModes {
  all(): readonly ModeGrant[];
  /** Saves a grant. Throws MusterError if it cannot be saved. */
  add(grant: ModeGrant): ModeGrant;
}

/** Opens the saved modes for a run. A file that cannot be read grants nothing. */
export function openSavedModes(options: ApprovalReaderOptions): SavedModes {
  return {
    all: () => {
      const problem = 'no saved mode of an agent counts';
      const { path, entries } = readApprovals(options, SAVED_MODES, problem);
      return entries.map((each) => grantOf(each, path));
    },
    add: ({ agent, mode, definition }) => {
      if (definition === null) {
        throw new MusterError('INTERNAL_ERROR', `the mode of ${agent} is for no one definition`);
      }
      const list = openApprovalList(options, SAVED_MODES);
      const saved = { agent, mode, ...definition, answeredOn: new Date().toISOString() };
      list.add([saved]);
      return grantOf(saved, list.path);
    },
  };
}

function grantOf({ agent, mode, path, sha256 }: SavedMode, where: string): ModeGrant {
  return { agent, mode, definition: { path, sha256 }, source: { kind: 'answer', where } };
}
