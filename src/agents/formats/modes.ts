import type { PermissionMode } from '../../protocol/permission.ts';

/** A vendor's words for permission modes, and what each means here: never wider than there. */
export type ModeWords = ReadonlyMap<string, PermissionMode | null>;

/** `default` is everywhere the word for no wish: what holds for the session holds for the agent. */
const COMMON: readonly (readonly [string, PermissionMode | null])[] = [
  ['plan', 'plan'],
  ['default', null],
  ['acceptEdits', 'acceptEdits'],
  ['manual', 'default'],
  ['auto', 'default'],
  ['bypassPermissions', 'autonomous'],
];

/** Claude Code's `dontAsk` refuses whatever would ask: what runs is what runs in `default`. */
export const CLAUDE_MODES: ModeWords = new Map<string, PermissionMode | null>([
  ...COMMON,
  ['dontAsk', 'default'],
]);

/** Muster's own words; `dontAsk` is seed S3's for `autonomous`. */
export const MUSTER_MODES: ModeWords = new Map<string, PermissionMode | null>([
  ...COMMON,
  ['autonomous', 'autonomous'],
  ['dontAsk', 'autonomous'],
]);
