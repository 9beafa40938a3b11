import { listNames } from '../base/text.ts';

/** The core tools, in the order in which requests list them. */
export const CORE_TOOLS = listNames(`
  Read Write Edit MultiEdit LS Glob Grep Bash TodoWrite WebFetch WebSearch Skill AskUser
  TaskOutput TaskStop TaskSend Notify
`);

/** The tools for Muster's own notes. An agent with a directory of its own has all of them. */
export const MEMORY_TOOLS = listNames(
  'MemoryList MemoryRead MemoryWrite MemoryPatch MemoryAppend MemoryDelete',
);

/** Tools that a definition must ask for by name. */
const ON_REQUEST_TOOLS = [
  ...listNames('Task TaskList TaskReplay RunTemplate HttpRequest'),
  ...MEMORY_TOOLS,
  ...listNames(`
    Board CurrentTime Sleep GetEnv SetEnv JsonParse JsonStringify Base64Encode Base64Decode
    FileInfo MoveFile DeleteFile ExitPlanMode
  `),
];

/** Tools that definitions may list although they do not exist yet. A task is told so and works without them. */
export const UNBUILT_TOOLS: ReadonlySet<string> = new Set(
  listNames('WebFetch WebSearch HttpRequest Board'),
);

/** The code search. The offline engine always has it; another agent has to ask for it by name. */
export const CODE_SEARCH = 'FindPlaces';

export const TOOL_NAMES: readonly string[] = [...CORE_TOOLS, ...ON_REQUEST_TOOLS, CODE_SEARCH];
