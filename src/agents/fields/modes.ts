import type { PermissionMode } from '../../protocol/permission.ts';

/** What a word for a permission mode asks for. */
export interface ModeWish {
  /** In Claude Code's words: what listings show. */
  readonly permissionMode: string;
  /** What it means here, never wider than there; null: no wish, what holds for the session holds. */
  readonly mode: PermissionMode | null;
  /** Whether what would be asked of a person is refused. */
  readonly refusesQuestions?: true;
}

/** A vendor's words for permission modes. */
export type ModeWords = ReadonlyMap<string, ModeWish>;

/** `default` is everywhere the word for no wish (docs/decisions/0002). */
const COMMON: readonly (readonly [string, ModeWish])[] = [
  ['plan', { permissionMode: 'plan', mode: 'plan' }],
  ['default', { permissionMode: 'default', mode: null }],
  ['acceptEdits', { permissionMode: 'acceptEdits', mode: 'acceptEdits' }],
  ['manual', { permissionMode: 'manual', mode: 'default' }],
  ['auto', { permissionMode: 'auto', mode: 'default' }],
  ['bypassPermissions', { permissionMode: 'bypassPermissions', mode: 'autonomous' }],
];

const PLAN = { permissionMode: 'plan', mode: 'plan' } as const;
const EDITS = { permissionMode: 'acceptEdits', mode: 'acceptEdits' } as const;
const BYPASS = { permissionMode: 'bypassPermissions', mode: 'autonomous' } as const;

/** Claude Code's `dontAsk` refuses whatever would ask: what runs is what runs in `default`. */
export const CLAUDE_MODES: ModeWords = new Map<string, ModeWish>([
  ...COMMON,
  ['dontAsk', { permissionMode: 'dontAsk', mode: 'default', refusesQuestions: true }],
]);

/** Muster's own words; `dontAsk` is what some write for `autonomous`. */
export const MUSTER_MODES: ModeWords = new Map<string, ModeWish>([
  ...COMMON,
  ['autonomous', { permissionMode: 'autonomous', mode: 'autonomous' }],
  ['dontAsk', { permissionMode: 'dontAsk', mode: 'autonomous' }],
]);

/** Qwen Code's `approvalMode`; `bubble` asks, whatever its parent may do unasked. */
export const APPROVAL_MODES: ModeWords = new Map<string, ModeWish>([
  ...COMMON,
  ['auto-edit', EDITS],
  ['auto_edit', EDITS],
  ['yolo', BYPASS],
  ['bubble', { permissionMode: 'default', mode: 'default' }],
]);

/** Codex `sandbox_mode`. */
export const SANDBOX_MODES: ModeWords = new Map<string, ModeWish>([
  ['read-only', PLAN],
  ['workspace-write', EDITS],
  ['danger-full-access', BYPASS],
]);

/** Cursor's `readonly: true`. */
export const READ_ONLY: ModeWish = PLAN;
