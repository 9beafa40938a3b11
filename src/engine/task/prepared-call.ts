import type { ErrorCode } from '../../base/errors.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import type { Access, Decision } from '../../protocol/permission.ts';
import type { AnyTool } from '../../protocol/tool.ts';

/** A call that is ready for a decision and can run. */
export interface ReadyCall {
  readonly ready: true;
  readonly call: ToolCallPart;
  readonly tool: AnyTool;
  /** The arguments as the tool parsed them. */
  readonly input: unknown;
  /** One sentence for each argument that was changed. */
  readonly notes?: readonly string[];
  /** The access that the call needs; null when the tool can't tell, and the call is treated as a command. */
  readonly access: Access | null;
}

/** A call that can't run, with the message for its model. */
export interface BrokenCall {
  readonly ready: false;
  readonly call: ToolCallPart;
  readonly tool: string;
  readonly text: string;
  readonly error: ErrorCode;
  /** Set when the call was refused and not merely wrong. */
  readonly decision?: Decision;
}

export type PreparedCall = ReadyCall | BrokenCall;
