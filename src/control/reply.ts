import type { ErrorInfo } from '../base/errors.ts';
import type { JsonValue } from '../base/json.ts';

/** What became of a request: `text` is for people, `data` for programs. */
export type ControlReply =
  | { readonly ok: true; readonly text: string; readonly data?: JsonValue }
  | { readonly ok: false; readonly error: ErrorInfo };
