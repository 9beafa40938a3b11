import type { JsonObject } from '../base/json.ts';
import type { RecordedTools, ToolChange } from './recorded-tools.ts';
import type { McpCallOptions, McpFollowOptions, McpServer } from './server-use.ts';
import type {
  McpCallResult,
  McpServerFeatures,
  McpStartedCall,
  McpTask,
  McpTool,
} from './server-data.ts';
import type { McpServerEntry } from './server-entry.ts';
import type { TaskOfCall } from './server-place.ts';

/** A tool of a server under the name that models see. */
export interface CatalogTool {
  /** `mcp__SERVER__TOOL`. */
  readonly name: string;
  readonly tool: McpTool;
  /** Starts a call. The server answers with the result, or carries the call out as a task. */
  call(args: JsonObject, options: McpCallOptions): Promise<McpStartedCall>;
  /** Waits for the result of such a task, also one that an earlier process has started. See `McpServer.followTask`. */
  follow(task: McpTask, options: McpFollowOptions): Promise<McpCallResult>;
  /** Tells the server to cancel such a task. `follower`: the task of Muster that follows it. Never rejects. */
  cancel(task: McpTask, follower: TaskOfCall): Promise<void>;
}

/** A server with the tools that tasks may use. */
export interface CatalogServer {
  readonly entry: McpServerEntry;
  /** The part of the tools' names that stands for the server. */
  readonly part: string;
  readonly instructions: string;
  readonly tools: readonly CatalogTool[];
  /** The features besides its tools; null if they are not known yet. */
  readonly features: McpServerFeatures | null;
}

/** A server that the user names in a message. */
export interface NamedUse {
  readonly use: McpServer;
  readonly features: McpServerFeatures;
}

/** The knowledge about the tools of a server, for people. */
export interface CatalogState {
  readonly entry: McpServerEntry;
  readonly isEnabled: boolean;
  /** Whether the server is being asked for its tools. */
  readonly isAsking: boolean;
  /** The accepted tools; null if the server has never answered which tools it has. */
  readonly accepted: RecordedTools | null;
  /** The difference of the tools that it offers now; null if there is none, or if they are not known. */
  readonly change: Omit<ToolChange, 'server'> | null;
}
