import type { AgentDefinition } from '../../protocol/agent.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permission.ts';
import type { Field } from '../parsing/fields.ts';
import type { FieldReader } from './field-reader.ts';
import { readBoolean, word } from './common.ts';
import {
  APPROVAL_MODES,
  READ_ONLY,
  SANDBOX_MODES,
  type ModeWish,
  type ModeWords,
} from './modes.ts';

type ModeFields = Pick<AgentDefinition, 'permissionMode' | 'mode' | 'refusesQuestions'>;

/** Names of the fields in which vendors say what an agent may do unasked. */
export const MODE_FIELDS = ['permission-mode', 'approval-mode', 'sandbox-mode', 'readonly'];

/**
 * The mode a file asks for, in the words of its vendor or of the one it was converted from. Of several
 * the narrowest counts. What is not understood may have been meant as a narrow mode, so it is capped
 * at `default`.
 */
export function readMode(reader: FieldReader, words: ModeWords): ModeFields {
  const wishes = [
    wishOf(reader, reader.take('permission-mode'), words),
    wishOf(reader, reader.take('approval-mode'), APPROVAL_MODES),
    wishOf(reader, reader.take('sandbox-mode'), SANDBOX_MODES),
    readOnlyWish(reader, reader.take('readonly')),
  ].filter((wish) => wish !== undefined);
  const [first] = wishes;
  if (first === undefined) return { permissionMode: null, mode: null };
  const { permissionMode, mode } = wishes.reduce((a, b) => (width(b) < width(a) ? b : a), first);
  return {
    permissionMode,
    mode,
    ...(wishes.some((wish) => wish.refusesQuestions) ? { refusesQuestions: true } : {}),
  };
}

interface Wish extends Omit<ModeWish, 'permissionMode'> {
  /** Null: a word that nobody understands. */
  readonly permissionMode: string | null;
}

function width({ mode }: Wish): number {
  return mode === null ? PERMISSION_MODES.length : PERMISSION_MODES.indexOf(mode);
}

function wishOf(reader: FieldReader, field: Field | undefined, words: ModeWords): Wish | undefined {
  if (field === undefined || field.value === null) return undefined;
  const said = word(field.value);
  const wish = said === undefined ? undefined : words.get(said);
  if (wish !== undefined) return wish;
  const valid = [...words.keys()].join(', ');
  const mode = narrowestOf(said ?? '', words);
  const message = `\`${said ?? 'this'}\` is no permission mode; it gets \`${mode}\` at most. Valid: ${valid}.`;
  reader.warn('invalid-permission-mode', message, field.line);
  return { permissionMode: null, mode };
}

/** Some files name several modes at once: `dontAsk, plan`. */
function narrowestOf(said: string, words: ModeWords): PermissionMode {
  const modes = said.split(/[\s,|]+/).map((each) => words.get(each)?.mode);
  return modes.includes('plan') ? 'plan' : 'default';
}

/** Whatever is no clear `false` may have been meant as `true`. */
function readOnlyWish(reader: FieldReader, field: Field | undefined): Wish | undefined {
  if (field === undefined || field.value === null) return undefined;
  const said = readBoolean(field.value);
  if (said === false) return undefined;
  if (said === undefined) {
    const message = '`readonly` must be true or false; it counts as true.';
    reader.warn('invalid-permission-mode', message, field.line);
  }
  return READ_ONLY;
}
