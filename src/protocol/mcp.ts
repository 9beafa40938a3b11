import type { AgentDefinition } from './agent.ts';
import type { Attachment, AttachPort } from './attachment.ts';
import type { AnyTool } from './tool.ts';

/** An MCP server with the tools that tasks may use. */
export interface McpServerTools {
  readonly name: string;
  /** The file that configures it. */
  readonly file: string;
  /** True if the user's own settings configure it, and neither a project nor a definition or plugin. */
  readonly isOfUser: boolean;
  /** The part of the tools' names that stands for the server: `mcp__PART__TOOL`. */
  readonly part: string;
  /** The text of the server about itself. Untrusted. */
  readonly about: string;
  readonly tools: readonly AnyTool[];
  /** The tool that reads its resources; null if it has none, or if that is not known. */
  readonly resources: AnyTool | null;
}

/** A text of a server for a message of the user, with its images. Untrusted. */
export interface ServerText {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** A resource in a prompt. */
export interface PromptResource {
  readonly uri: string;
  readonly text: string;
}

/** A prompt that the user has chosen, with the arguments that the user has given. */
export interface ServerPromptRequest {
  /** The part of the names of the server's tools. */
  readonly server: string;
  readonly prompt: string;
  /** The rest of the typed line. */
  readonly argument: string;
}

/** The ports for a request of the user to a server. */
interface UserRequestContext {
  readonly attach: AttachPort;
  readonly signal: AbortSignal;
}

/** The MCP servers that tasks of one agent have: the configured ones, and those of its definition. */
export interface AgentServers {
  /** The parts of the tools' names that stand for the servers. */
  readonly parts: readonly string[];
  /** The servers whose tools are known. */
  readonly servers: readonly McpServerTools[];
  /** The servers of the definition that cannot be used, by their part, each with the reason as a sentence. */
  readonly unusable: ReadonlyMap<string, string>;
}

/** The parts of a definition that say which servers its tasks may use. */
export type ServerUser = Pick<
  AgentDefinition,
  'name' | 'origin' | 'servers' | 'tools' | 'disallowedTools'
>;

/** The MCP servers of a process, as its tasks use them. */
export interface McpPort {
  /**
   * Makes the tools known that an agent may use, and starts servers for that if necessary. Call it before the tools of
   * a task are selected. Problems are reported elsewhere. Never rejects.
   */
  prepare(agent: ServerUser): Promise<void>;
  /** The parts of the tools' names that stand for the configured servers. */
  readonly parts: readonly string[];
  /** The configured servers whose tools are known. */
  readonly servers: readonly McpServerTools[];
  /** Finds the servers of an agent. Those of its definition are read from its present file, never from a log. */
  ofAgent(agent: ServerUser): AgentServers;
  /** Ends what was started only for a task. */
  endTask(id: string): void;
  /** Reads a resource that the user names. `server` is the server's part of its tools' names. Rejects with MusterError. */
  readResource(
    resource: { readonly server: string; readonly uri: string },
    context: UserRequestContext,
  ): Promise<ServerText>;
  /**
   * Gets a prompt that the user has chosen. Rejects with MusterError, for example if a required argument is missing; the
   * message is one line for the user.
   */
  getPrompt(
    request: ServerPromptRequest,
    context: UserRequestContext,
  ): Promise<ServerText & { readonly resources: readonly PromptResource[] }>;
}
