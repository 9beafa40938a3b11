import type { McpServerFeatures, McpTool } from './server-data.ts';

/** The tools of a server as they were when the user last accepted them. */
export interface RecordedTools {
  /** The server's text about how to use it. */
  readonly instructions: string;
  readonly tools: readonly McpTool[];
  /**
   * The features besides the tools. Models read none of these texts, so they are recorded anew at each use. Absent in records
   * of earlier versions, and if the server could not be asked.
   */
  readonly features?: McpServerFeatures;
}

/** Keeps the accepted tools of servers, by the fingerprint of their entry. */
export interface ToolRecords {
  /** Returns null if the user has not used this server yet. */
  read(fingerprint: string): RecordedTools | null;
  write(fingerprint: string, tools: RecordedTools): void;
}

/** The differences between the accepted tools of a server and those that it offers now. */
export interface ToolChange {
  readonly server: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Compares two lists of tools by everything that a model reads about them. Returns null if they are equal. */
export function compareTools(
  before: readonly McpTool[],
  after: readonly McpTool[],
): Omit<ToolChange, 'server'> | null {
  const texts = (tools: readonly McpTool[]): ReadonlyMap<string, string> =>
    new Map(tools.map((tool) => [tool.name, JSON.stringify([tool.description, tool.inputSchema])]));
  const [old, present] = [texts(before), texts(after)];
  const added = [...present.keys()].filter((name) => !old.has(name));
  const removed = [...old.keys()].filter((name) => !present.has(name));
  const changed = [...present].flatMap(([name, text]) =>
    old.has(name) && old.get(name) !== text ? [name] : [],
  );
  return added.length + removed.length + changed.length === 0 ? null : { added, removed, changed };
}
