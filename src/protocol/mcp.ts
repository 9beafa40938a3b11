import type { AgentDefinition } from './agent.ts';
import type { AnyTool } from './tool.ts';

/** An MCP server with the tools that tasks may use. */
export interface McpServerTools {
  readonly name: string;
  /** The file that configures it. */
  readonly file: string;
  /** The part of the tools' names that stands for the server: `mcp__PART__TOOL`. */
  readonly part: string;
  /** The text of the server about itself. Untrusted. */
  readonly about: string;
  readonly tools: readonly AnyTool[];
}

/** The MCP servers of a process, as its tasks use them. */
export interface McpPort {
  /**
   * Makes the tools known that an agent may use, and starts servers for that if necessary. Call it before the tools of
   * a task are selected. Problems are reported elsewhere. Never rejects.
   */
  prepare(agent: Pick<AgentDefinition, 'tools' | 'disallowedTools'>): Promise<void>;
  /** The parts of the tools' names that stand for the configured servers. */
  readonly parts: readonly string[];
  /** The servers whose tools are known. */
  readonly servers: readonly McpServerTools[];
}
