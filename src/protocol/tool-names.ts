import { listNames } from '../base/text.ts';
import { CODE_TOOL, PATCH_TOOL } from './file-tools.ts';

/** The core tools, in the order in which requests list them. */
export const CORE_TOOLS = listNames(`
  Read Write Edit MultiEdit LS Glob Grep Bash TodoWrite WebFetch WebSearch Skill AskUser
  TaskOutput TaskStop TaskSend Notify
`);

/** The tools for notes. An agent with its own directory of notes has all of them. */
export const MEMORY_TOOLS = listNames(
  'MemoryList MemoryRead MemoryWrite MemoryPatch MemoryAppend MemoryDelete',
);

/** The tools that an agent has only if its definition names them. */
const ON_REQUEST_TOOLS = [
  ...listNames('Task TaskList TaskReplay RunTemplate HttpRequest'),
  ...MEMORY_TOOLS,
  ...listNames(`
    Board CurrentTime Sleep GetEnv SetEnv JsonParse JsonStringify Base64Encode Base64Decode
    FileInfo MoveFile DeleteFile ExitPlanMode
  `),
  CODE_TOOL,
];

/**
 * The tools that exist only with a configuration, each with the reason why it is missing, as a sentence. Built-in agents
 * list them, and work without them.
 */
export const CONFIGURED_TOOLS: ReadonlyMap<string, string> = new Map([
  ['WebSearch', 'No search service is configured (web.search in the configuration).'],
  [CODE_TOOL, 'No language server for this workspace was found.'],
  ['McpResource', 'No MCP server with resources is known that it may use.'],
]);

/**
 * The tools that find and call tools of MCP servers. A task has them if its requests do not list the tools of servers,
 * whatever its definition says.
 */
export const TOOL_FINDER_TOOLS = ['ToolSearch', 'McpCall'] as const;

/**
 * The tool that reads resources of MCP servers. A task has it if it may use a server that has resources. Rights are about
 * the tool of one server (`toResourceTool`), which a call of this one stands for.
 */
export const RESOURCE_TOOL = 'McpResource';

/** Returns the name of the tool that reads the resources of a server, by the server's part of its tools' names. */
export function toResourceTool(part: string): string {
  return `mcp__${part}__${RESOURCE_TOOL}`;
}

/** Tells whether a tool reads the resources of one server. No server has a tool of its own with such a name. */
export function isResourceTool(name: string): boolean {
  // The part for the server contains no `__`, but a tool of a server may be called `a__McpResource`.
  const start = 'mcp__'.length;
  return name.startsWith('mcp__') && name.slice(name.indexOf('__', start)) === `__${RESOURCE_TOOL}`;
}

/** The tools by which a task starts other tasks. */
export const DELEGATING_TOOLS: readonly string[] = ['Task', 'RunTemplate'];

/** The tool that lands the changes of descendants. A task that can delegate has it, whatever its definition says. */
export const LANDING_TOOL = 'TaskLand';

/** The code search. An agent that runs on the offline engine always has it; any other agent has it only if its definition names
 * it. */
export const CODE_SEARCH = 'FindPlaces';

/** The tool with which a program that speaks ACP asks whether it may do something itself. */
export const REMOTE_STEP = 'RemoteStep';
/** The tool that finds the files which such a program has changed itself. */
export const REMOTE_CHANGES = 'RemoteChanges';
/** The tools that only tasks of such programs have. No request to a model lists them. */
export const REMOTE_TOOLS: readonly string[] = [REMOTE_STEP, REMOTE_CHANGES];

/** The tools through which Muster carries out the requests of a program that speaks ACP. */
export const PROGRAM_TOOLS = ['Read', 'Write', 'Bash'] as const;

export const TOOL_NAMES: readonly string[] = [
  ...CORE_TOOLS,
  ...ON_REQUEST_TOOLS,
  CODE_SEARCH,
  PATCH_TOOL,
  ...TOOL_FINDER_TOOLS,
  RESOURCE_TOOL,
  LANDING_TOOL,
  ...REMOTE_TOOLS,
];
