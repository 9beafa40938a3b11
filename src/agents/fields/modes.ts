import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permission.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Field } from '../parsing/fields.ts';
import type { FieldReader } from './field-reader.ts';
import { singleLineOf, takeNarrowingFlag } from './common.ts';

/** The permission mode that a vendor's name for a mode requests. */
interface RequestedMode {
  /** Claude Code's name for the mode, which listings show. */
  readonly permissionMode: string;
  /** The mode in Muster, never wider than the vendor's. Null when it requests none, and the mode of the session applies. */
  readonly mode: PermissionMode | null;
  /** Whether calls that would ask a person are refused. */
  readonly refusesQuestions?: true;
}

/** A vendor's names for permission modes. */
export type ModeNames = ReadonlyMap<string, RequestedMode>;

/** The name `default` requests no mode in any format (docs/decisions/0002). */
const COMMON: readonly (readonly [string, RequestedMode])[] = [
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

/** In Claude Code, `dontAsk` refuses every call that would ask, so the calls that run are those that run in `default`. */
export const CLAUDE_MODES: ModeNames = new Map<string, RequestedMode>([
  ...COMMON,
  ['dontAsk', { permissionMode: 'dontAsk', mode: 'default', refusesQuestions: true }],
]);

/** Muster's own names. Some files write `dontAsk` for `autonomous`. */
export const MUSTER_MODES: ModeNames = new Map<string, RequestedMode>([
  ...COMMON,
  ['autonomous', { permissionMode: 'autonomous', mode: 'autonomous' }],
  ['dontAsk', { permissionMode: 'dontAsk', mode: 'autonomous' }],
]);

/** The values of Qwen Code's `approvalMode`. `bubble` asks, whatever the parent may do without asking. */
const APPROVAL_MODES: ModeNames = new Map<string, RequestedMode>([
  ...COMMON,
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

/** The fields in which vendors say what an agent may do without asking. */
export const MODE_FIELDS = ['permission-mode', 'approval-mode', 'sandbox-mode', 'readonly'];

/**
 * Reads the mode that a file requests, under the names of its vendor or of the one it was converted from. The
 * narrowest of several counts. A value that is not understood may have been meant as a narrow mode, so it
 * becomes `default` at most.
 */
export function readMode(reader: FieldReader, words: ModeNames): ModeFields {
  const requests = [
    requestedMode(reader, reader.take('permission-mode'), words),
    requestedMode(reader, reader.take('approval-mode'), APPROVAL_MODES),
    requestedMode(reader, reader.take('sandbox-mode'), SANDBOX_MODES),
    // Cursor's `readonly: true`.
    takeNarrowingFlag(reader, 'readonly', 'invalid-permission-mode') ? PLAN : undefined,
  ].filter((request) => request !== undefined);
  const [first] = requests;
  if (first === undefined) return { permissionMode: null, mode: null };
  const { permissionMode, mode } = requests.reduce((a, b) => (width(b) < width(a) ? b : a), first);
  return {
    permissionMode,
    mode,
    ...(requests.some((request) => request.refusesQuestions) ? { refusesQuestions: true } : {}),
  };
}

interface ModeRequest extends Omit<RequestedMode, 'permissionMode'> {
  /** The permission mode as the file names it, or null if the name is unknown. */
  readonly permissionMode: string | null;
}

function width({ mode }: ModeRequest): number {
  return mode === null ? PERMISSION_MODES.length : PERMISSION_MODES.indexOf(mode);
}

function requestedMode(
  reader: FieldReader,
  field: Field | undefined,
  words: ModeNames,
): ModeRequest | undefined {
  if (field === undefined || field.value === null) return undefined;
  const name = singleLineOf(field.value);
  const known = name === undefined ? undefined : words.get(name);
  if (known !== undefined) return known;
  const valid = [...words.keys()].join(', ');
  const mode = narrowestOf(name ?? '', words);
  const message = `\`${name ?? 'this'}\` is not a permission mode; the agent gets \`${mode}\` at most. Valid: ${valid}.`;
  reader.warn('invalid-permission-mode', message, field.line);
  return { permissionMode: null, mode };
}

/** Some files name several modes in one value: `dontAsk, plan`. */
function narrowestOf(value: string, words: ModeNames): PermissionMode {
  const modes = value.split(/[\s,|]+/).map((each) => words.get(each)?.mode);
  return modes.includes('plan') ? 'plan' : 'default';
}
