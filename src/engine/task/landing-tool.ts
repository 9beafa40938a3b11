import type { ToolSpec } from '../../protocol/model.ts';
import type { AnyTool } from '../../protocol/tool.ts';

/** The tool that lands what descendants left in their workspaces, and its description for the model of a task. */
export interface LandingTool {
  readonly tool: AnyTool;
  readonly spec: ToolSpec;
}
