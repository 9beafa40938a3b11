import type { ErrorCode } from '../../base/errors.ts';
import type { HookVerdict } from '../../protocol/hook.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import type { Access, Decision, PermissionRule } from '../../protocol/permission.ts';
import type { AnyTool } from '../../protocol/tool.ts';

/** A valid call, which is ready for a decision. */
export interface ReadyCall {
  readonly ready: true;
  readonly call: ToolCallPart;
  readonly tool: AnyTool;
  /** The arguments as parsed by the tool. */
  readonly input: unknown;
  /** One sentence for each argument that was changed. */
  readonly notes?: readonly string[];
  /** The access that the call needs; null when the tool can't determine it. Such a call is treated like a command. */
  readonly access: Access | null;
  /** The tool as whose call it is decided. Default: its own tool. */
  readonly decidedAs?: string;
  /**
   * Set for a call that a slash command makes and no model. The task need not have the tool, and these rules allow the call
   * besides its own.
   */
  readonly byCommand?: { readonly allow: readonly PermissionRule[] };
  /** The verdict of hooks about the call. Default: none. */
  readonly hookVerdict?: HookVerdict;
  /** Texts of hooks for the model, which are added to the result. Default: none. */
  readonly hookContext?: readonly string[];
}

/** A call that can't run, with the message for the model. */
export interface BrokenCall {
  readonly ready: false;
  readonly call: ToolCallPart;
  readonly tool: string;
  readonly text: string;
  readonly error: ErrorCode;
  /** The decision; absent when the call was not refused but invalid. */
  readonly decision?: Decision;
}

export type PreparedCall = ReadyCall | BrokenCall;
