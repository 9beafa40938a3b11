import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permission.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Field } from '../parsing/fields.ts';
import type { FieldReader } from './field-reader.ts';
import { readSingleLine, takeNarrowingFlag } from './common.ts';

/** The permission mode that a vendor's mode name requests. */
interface RequestedMode {
  /** Claude Code's name for the mode, which listings show. */
  readonly permissionMode: string;
  /**
   * The mode in Muster, which is never wider than the vendor's mode. Null if the name requests no particular mode, so
   * that the mode of the session applies.
   */
  readonly mode: PermissionMode | null;
  /** Whether calls that would ask a person are refused. */
  readonly refusesQuestions?: true;
}

/** A vendor's names for permission modes, and what they request. */
export type ModeNames = ReadonlyMap<string, RequestedMode>;

/** The name `default` requests no mode in any format (docs/decisions/0002). */
const COMMON_MODES: readonly (readonly [string, RequestedMode])[] = [
  ['plan', { permissionMode: 'plan', mode: 'plan' }],
  ['default', { permissionMode: 'default', mode: null }],
  ['acceptEdits', { permissionMode: 'acceptEdits', mode: 'acceptEdits' }],
  ['manual', { permissionMode: 'manual', mode: 'default' }],
  ['auto', { permissionMode: 'auto', mode: 'default' }],
  ['bypassPermissions', { permissionMode: 'bypassPermissions', mode: 'autonomous' }],
];

const PLAN: RequestedMode = { permissionMode: 'plan', mode: 'plan' };
const EDITS: RequestedMode = { permissionMode: 'acceptEdits', mode: 'acceptEdits' };
const BYPASS: RequestedMode = { permissionMode: 'bypassPermissions', mode: 'autonomous' };

/**
 * Claude Code's mode names. There, `dontAsk` refuses every call that would ask, so only calls that run without a
 * question in `default` can run.
 */
export const CLAUDE_MODES: ModeNames = new Map<string, RequestedMode>([
  ...COMMON_MODES,
  ['dontAsk', { permissionMode: 'dontAsk', mode: 'default', refusesQuestions: true }],
]);

/** Muster's own mode names. Some files write `dontAsk` instead of `autonomous`. */
export const MUSTER_MODES: ModeNames = new Map<string, RequestedMode>([
  ...COMMON_MODES,
  ['autonomous', { permissionMode: 'autonomous', mode: 'autonomous' }],
  ['dontAsk', { permissionMode: 'dontAsk', mode: 'autonomous' }],
]);

/**
 * The values of Qwen Code's `approvalMode`. With `bubble`, calls ask even if the parent may run them without a
 * question.
 */
const APPROVAL_MODES: ModeNames = new Map<string, RequestedMode>([
  ...COMMON_MODES,
  ['auto-edit', EDITS],
  ['auto_edit', EDITS],
  ['yolo', BYPASS],
  ['bubble', { permissionMode: 'default', mode: 'default' }],
]);

/** The values of `sandbox_mode` in Codex. */
const SANDBOX_MODES: ModeNames = new Map<string, RequestedMode>([
  ['read-only', PLAN],
  ['workspace-write', EDITS],
  ['danger-full-access', BYPASS],
]);

type ModeFields = Pick<AgentDefinition, 'permissionMode' | 'mode' | 'refusesQuestions'>;

/** The fields in which vendors declare what an agent may do without asking. */
export const MODE_FIELDS = ['permission-mode', 'approval-mode', 'sandbox-mode', 'readonly'];

/**
 * Reads the mode that a file requests, under the field names of any vendor, because files are converted between
 * formats. If there are several modes, the narrowest one applies. An unknown value may have been meant as a narrow
 * mode, so it requests `default` at most.
 */
export function readMode(reader: FieldReader, modeNames: ModeNames): ModeFields {
  const requests = [
    readRequest(reader, reader.take('permission-mode'), modeNames),
    readRequest(reader, reader.take('approval-mode'), APPROVAL_MODES),
    readRequest(reader, reader.take('sandbox-mode'), SANDBOX_MODES),
    // In Cursor, `readonly: true` forbids changes.
    takeNarrowingFlag(reader, 'readonly', 'invalid-permission-mode') ? PLAN : undefined,
  ].filter((request) => request !== undefined);
  const [first] = requests;
  if (first === undefined) return { permissionMode: null, mode: null };
  const { permissionMode, mode } = requests.reduce(
    (a, b) => (measureWidth(b) < measureWidth(a) ? b : a),
    first,
  );
  return {
    permissionMode,
    mode,
    ...(requests.some((request) => request.refusesQuestions) ? { refusesQuestions: true } : {}),
  };
}

/** A request for a mode, as it is written in a file. */
interface ModeRequest extends Omit<RequestedMode, 'permissionMode'> {
  /** The permission mode as the file names it, or null if the name is unknown. */
  readonly permissionMode: string | null;
}

function measureWidth({ mode }: ModeRequest): number {
  return mode === null ? PERMISSION_MODES.length : PERMISSION_MODES.indexOf(mode);
}

function readRequest(
  reader: FieldReader,
  field: Field | undefined,
  modeNames: ModeNames,
): ModeRequest | undefined {
  if (field === undefined || field.value === null) return undefined;
  const name = readSingleLine(field.value);
  const known = name === undefined ? undefined : modeNames.get(name);
  if (known !== undefined) return known;
  const valid = [...modeNames.keys()].join(', ');
  const mode = findNarrowestMode(name ?? '', modeNames);
  const message = `\`${name ?? 'this'}\` is not a permission mode; the agent gets \`${mode}\` at most. Valid: ${valid}.`;
  reader.warn('invalid-permission-mode', message, field.line);
  return { permissionMode: null, mode };
}

/**
 * Returns the narrowest mode in an unknown value, because some files name several modes in one value: `dontAsk, plan`.
 */
function findNarrowestMode(value: string, modeNames: ModeNames): PermissionMode {
  const modes = value.split(/[\s,|]+/).map((each) => modeNames.get(each)?.mode);
  return modes.includes('plan') ? 'plan' : 'default';
}
