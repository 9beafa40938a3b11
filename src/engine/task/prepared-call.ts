import type { ErrorCode } from '../../base/errors.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import type { Access, Decision } from '../../protocol/permission.ts';
import type { AnyTool } from '../../protocol/tool.ts';

/** A call that may be judged and run. */
export interface ReadyCall {
  readonly ready: true;
  readonly call: ToolCallPart;
  readonly tool: AnyTool;
  /** As the tool parsed it. */
  readonly input: unknown;
  /** One sentence for each argument that was changed. Absent when none was. */
  readonly notes?: readonly string[];
  /** Null: the tool can't tell, and it is judged as a command. */
  readonly access: Access | null;
}

/** A call that can't run, with what its model is told. */
export interface BrokenCall {
  readonly ready: false;
  readonly call: ToolCallPart;
  readonly tool: string;
  readonly text: string;
  readonly error: ErrorCode;
  /** Where it was refused, and not merely wrong. */
  readonly decision?: Decision;
}

export type PreparedCall = ReadyCall | BrokenCall;
