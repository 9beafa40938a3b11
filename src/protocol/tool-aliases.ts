import { lazy } from '../base/lazy.ts';
import { listNames } from '../base/text.ts';
import type { ToolLimit } from './agent.ts';
import { CORE_TOOLS, TOOL_NAMES } from './tool-names.ts';

/**
 * The names of other products for Muster's tools. The table applies to the files of all vendors, because people convert
 * files from one format to another without changing the tool names.
 */
const ALIASES: Readonly<Record<string, string>> = {
  Read: `
    read_file read_many_files readFile ReadFile open_file view fs_read read/readFile
    read/viewImage read/getNotebookSummary NotebookRead
  `,
  Write: `
    write_file write_to_file WriteFile Create create_file fs_write edit/createFile
    edit/createDirectory
  `,
  Edit: `
    edit_file edit/editFiles editFiles patch replace str_replace apply_patch ApplyPatch
    replace_in_file NotebookEdit edit/editNotebook
  `,
  MultiEdit: 'multi_edit',
  Code: 'LSP lsp',
  Bash: `
    shell shell_exec execute_bash local_shell powershell execute Execute execute_command
    run_command run_shell_command run_in_terminal runCommands execute/runInTerminal
  `,
  Grep: `
    grep_search grep_files search_file_content ripgrep searchResults codebase usages
    search/textSearch search/codebase search/usages
  `,
  Glob: 'find find_files glob_search glob_files search/fileSearch',
  LS: 'list list_files list_directory list_dir search/listDirectory ReadFolder',
  WebFetch: 'fetch web/fetch web_fetch fetch_content FetchUrl http_get',
  WebSearch: 'web_search google_web_search google_search',
  HttpRequest: 'http_request http_post',
  TodoWrite: 'todo todos todo_list TodoRead write_todos todo_write',
  Skill: 'activate_skill',
  AskUser: 'AskUserQuestion vscode/askQuestions ask_user question',
  Task: `
    Agent runSubagent agent/runSubagent subagent use_subagent spawn_subagent invoke_agent
    custom-agent delegate
  `,
  TaskOutput: 'BashOutput task_output execute/getTerminalOutput execute/awaitTerminal',
  TaskStop: 'KillShell KillBash task_stop',
  TaskSend: 'SendMessage send_message task_send',
  TaskList: 'task_list',
  TaskReplay: 'task_replay',
  McpResource: `
    ListMcpResourcesTool ReadMcpResourceTool list_mcp_resources read_mcp_resource
    list_mcp_resource_templates
  `,
  MemoryList: 'memory_list',
  MemoryRead: 'memory_read',
  MemoryWrite: 'memory_write',
  MemoryPatch: 'memory_patch',
  MemoryAppend: 'memory_append',
  MemoryDelete: 'memory_delete',
  CurrentTime: 'current_time',
  GetEnv: 'get_env',
  SetEnv: 'set_env',
  JsonParse: 'json_parse',
  JsonStringify: 'json_stringify',
  Base64Encode: 'base64_encode',
  Base64Decode: 'base64_decode',
  FileInfo: 'get_file_info file_info',
  MoveFile: 'move_file',
  DeleteFile: 'delete_file',
  ExitPlanMode: 'exit_plan_mode',
};

/** The names of groups of tools that mean the same for all vendors. */
const GROUPS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['search', ['Grep', 'Glob']],
  ['web', ['WebFetch', 'WebSearch']],
  // A patch adds files, too.
  ['apply_patch', ['Edit', 'Write']],
  ['applypatch', ['Edit', 'Write']],
  ['read-only', ['Read', 'LS', 'Grep', 'Glob']],
  ['@builtin', CORE_TOOLS],
]);

/** The names that mean a group of tools for one vendor, and a single tool or nothing for the others. */
const VENDOR_GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ['copilot edit', ['Edit', 'Write']],
  ['factory edit', ['Edit', 'MultiEdit', 'Write']],
  ['factory mcp', ['mcp__*']],
  ['goose developer', ['Read', 'Write', 'Edit', 'Bash']],
  ['kiro fs_write', ['Write', 'Edit']],
  ['kiro write', ['Write', 'Edit']],
  ['kiro @mcp', ['mcp__*']],
]);

const MUSTER_NAMES: ReadonlySet<string> = new Set(TOOL_NAMES);

/** Muster's name for each alias. Built at the first use: only files of other products and misspelled names need it. */
const NAMES_BY_ALIAS = lazy(
  (): ReadonlyMap<string, string> =>
    new Map([
      ...TOOL_NAMES.map((name) => [name, name] as const),
      ...Object.entries(ALIASES).flatMap(([name, aliases]) =>
        listNames(aliases).map((alias) => [alias, name] as const),
      ),
    ]),
);

/** Muster's name for each alias in lower case. If two aliases differ only by case, the first alias in the table counts. */
const NAMES_BY_LOWER_CASE_ALIAS = lazy(
  (): ReadonlyMap<string, string> =>
    new Map(
      [...NAMES_BY_ALIAS()].toReversed().map(([word, name]) => [word.toLowerCase(), name] as const),
    ),
);

/** The extensions of the files that Read returns as images. */
const IMAGE_EXTENSIONS = ['png', 'jpg', 'jpeg', 'gif', 'webp'];
const NOTEBOOK_EXTENSIONS = ['ipynb'];

/**
 * The names, in lower case, of tools that do less than Muster's corresponding tool. A tool list with such a name grants
 * Muster's tool with a limit.
 */
const NARROWER_TOOLS: ReadonlyMap<string, ToolLimit> = new Map<string, ToolLimit>([
  ['notebookedit', limitToFileTypes('Edit', NOTEBOOK_EXTENSIONS)],
  ['edit/editnotebook', limitToFileTypes('Edit', NOTEBOOK_EXTENSIONS)],
  ['notebookread', limitToFileTypes('Read', NOTEBOOK_EXTENSIONS)],
  ['read/getnotebooksummary', limitToFileTypes('Read', NOTEBOOK_EXTENSIONS)],
  ['read/viewimage', limitToFileTypes('Read', IMAGE_EXTENSIONS)],
  ['create', limitToNewFiles('Write')],
  ['create_file', limitToNewFiles('Write')],
  ['edit/createfile', limitToNewFiles('Write')],
]);

function limitToFileTypes(tool: string, extensions: readonly string[]): ToolLimit {
  return { tool, rules: extensions.map((each) => `${tool}(//**/*.${each})`) };
}

function limitToNewFiles(tool: string): ToolLimit {
  return { tool, rules: [], newFiles: true };
}

/**
 * The names, in lower case, of tools that do less than Muster's corresponding tool where a `ToolLimit` cannot express the
 * difference. Such a name grants nothing. A denial of such a name denies Muster's tool.
 */
const UNGRANTABLE_NAMES: ReadonlySet<string> = new Set(['edit/createdirectory', 'todoread']);

/** The grant of a name in a tool list: a tool, a tool with a limit, or nothing. */
export type ToolGrant =
  | { readonly tool: string }
  | { readonly tool: string; readonly limit: ToolLimit }
  /** The name `word` grants nothing, because Muster's `tool` can do more than `word` means. */
  | { readonly tool: string; readonly word: string; readonly isTooWide: true };

/**
 * Finds the tools that the name `word` in a tool list grants, by canonical names. The grant is never wider than the meaning
 * of the name for its vendor. Returns undefined for an unknown name.
 */
export function findGrantedTools(word: string, vendor: string): readonly ToolGrant[] | undefined {
  const folded = word.toLowerCase();
  const limit = NARROWER_TOOLS.get(folded);
  if (limit !== undefined) return [{ tool: limit.tool, limit }];
  const tools = expandToolName(word, vendor);
  return UNGRANTABLE_NAMES.has(folded)
    ? tools?.map((tool) => ({ tool, word, isTooWide: true }))
    : tools?.map((tool) => ({ tool }));
}

/**
 * Finds the rules that deny what the name `word` means, if it means less than a full tool. Returns undefined if the full
 * tool has to be denied.
 */
export function findDenyRules(word: string): readonly string[] | undefined {
  const limit = NARROWER_TOOLS.get(word.toLowerCase());
  return limit === undefined || limit.rules.length === 0 ? undefined : limit.rules;
}

/** The difference between the meaning of a name and Muster's tool. */
export type NarrowerMeaning =
  /** The name means only the calls that a rule with this specifier covers. */
  | { readonly specifier: string }
  /** The name means less than the tool in a way that no single rule can express. */
  | { readonly specifier?: never };

/**
 * Tells whether a name in a permission rule covers only some calls of Muster's tool, and which ones. Returns undefined if
 * the name means the full tool.
 */
export function findNarrowerMeaning(name: string): NarrowerMeaning | undefined {
  const folded = name.toLowerCase();
  const limit = NARROWER_TOOLS.get(folded);
  if (limit === undefined) return UNGRANTABLE_NAMES.has(folded) ? {} : undefined;
  const [rule, ...others] = limit.rules;
  if (rule === undefined || others.length > 0) return {};
  return { specifier: rule.slice(limit.tool.length + 1, -1) };
}

/**
 * Returns Muster's name for a tool name of any vendor; undefined: the name is unknown. An exact match takes precedence over
 * a match without regard to case. Names with the prefix `mcp__` are returned unchanged.
 */
export function canonicalToolName(name: string): string | undefined {
  if (name.startsWith('mcp__')) return name;
  if (MUSTER_NAMES.has(name)) return name;
  return NAMES_BY_ALIAS().get(name) ?? NAMES_BY_LOWER_CASE_ALIAS().get(name.toLowerCase());
}

/**
 * Returns the canonical names of all tools that the name `word` in an agent file means: a group of the vendor
 * (`AgentOrigin.vendor`), a group of all vendors, or a single tool. Returns undefined for an unknown name. Use this
 * function for rules that deny or ask. For grants use `findGrantedTools`, because a tool may do more than the name means.
 */
export function expandToolName(word: string, vendor: string): readonly string[] | undefined {
  const folded = word.toLowerCase();
  const group = VENDOR_GROUPS.get(`${vendor} ${folded}`) ?? GROUPS.get(folded);
  if (group !== undefined) return group;
  const name = canonicalToolName(word);
  return name === undefined ? undefined : [name];
}
