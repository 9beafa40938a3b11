import { lazy } from '../base/lazy.ts';
import { listNames } from '../base/text.ts';
import type { ToolLimit } from './agent.ts';
import { CORE_TOOLS, TOOL_NAMES } from './tool-names.ts';

/**
 * Other products' names for Muster's tools. The table applies to all vendors, because people convert files from one
 * vendor's folder to another's without changing the tool names.
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

/** Names for several tools at once that mean the same for all vendors. */
const GROUPS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['search', ['Grep', 'Glob']],
  ['web', ['WebFetch', 'WebSearch']],
  ['read-only', ['Read', 'LS', 'Grep', 'Glob']],
  ['@builtin', CORE_TOOLS],
]);

/** Names that mean a group for one vendor, and a tool or nothing for the others. */
const VENDOR_GROUPS: ReadonlyMap<string, readonly string[]> = new Map([
  ['copilot edit', ['Edit', 'Write']],
  ['factory edit', ['Edit', 'MultiEdit', 'Write']],
  ['factory mcp', ['mcp__*']],
  ['goose developer', ['Read', 'Write', 'Edit', 'Bash']],
  ['kiro fs_write', ['Write', 'Edit']],
  ['kiro write', ['Write', 'Edit']],
  ['kiro @mcp', ['mcp__*']],
]);

const OWN: ReadonlySet<string> = new Set(TOOL_NAMES);

/** Only files of other products and models that mistake a name need this table, so a start does not build it. */
const EXACT = lazy(
  (): ReadonlyMap<string, string> =>
    new Map([
      ...TOOL_NAMES.map((name) => [name, name] as const),
      ...Object.entries(ALIASES).flatMap(([name, aliases]) =>
        listNames(aliases).map((alias) => [alias, name] as const),
      ),
    ]),
);

/** An exact spelling that differs from another only by case goes first. */
const FOLDED = lazy(
  (): ReadonlyMap<string, string> =>
    new Map([...EXACT()].toReversed().map(([word, name]) => [word.toLowerCase(), name] as const)),
);

/** Files that Read shows as pictures. */
const PICTURES = ['png', 'jpg', 'jpeg', 'gif', 'webp'];
const NOTEBOOKS = ['ipynb'];

/**
 * Names of tools that do less than Muster's corresponding tool, in lower case. A list that contains one of them grants
 * only what the name means.
 */
const PARTIAL: ReadonlyMap<string, ToolLimit> = new Map<string, ToolLimit>([
  ['notebookedit', onlyFiles('Edit', NOTEBOOKS)],
  ['edit/editnotebook', onlyFiles('Edit', NOTEBOOKS)],
  ['notebookread', onlyFiles('Read', NOTEBOOKS)],
  ['read/getnotebooksummary', onlyFiles('Read', NOTEBOOKS)],
  ['read/viewimage', onlyFiles('Read', PICTURES)],
  ['create', onlyNewFiles('Write')],
  ['create_file', onlyNewFiles('Write')],
  ['edit/createfile', onlyNewFiles('Write')],
]);

function onlyFiles(tool: string, extensions: readonly string[]): ToolLimit {
  return { tool, rules: extensions.map((each) => `${tool}(//**/*.${each})`) };
}

function onlyNewFiles(tool: string): ToolLimit {
  return { tool, rules: [], newFiles: true };
}

/**
 * Names of tools that do less than any tool of Muster, where no limit can express the difference, in lower case. A
 * list grants nothing by such a name. A denial by it denies Muster's tool.
 */
const TOO_NARROW: ReadonlySet<string> = new Set(['edit/createdirectory', 'todoread', 'http_post']);

/** The grant of a name in a tool list. */
export type ToolGrant =
  | { readonly tool: string }
  | { readonly tool: string; readonly limit: ToolLimit }
  /** Nothing, because `tool`, which a denial of the word denies, does more than the word means. */
  | { readonly tool: string; readonly word: string; readonly isTooWide: true };

/**
 * Returns everything that a name in a tool list grants, in canonical names: never more than the name means for
 * its vendor. Undefined for an unknown name.
 */
export function grantedTools(word: string, vendor: string): readonly ToolGrant[] | undefined {
  const folded = word.toLowerCase();
  const limit = PARTIAL.get(folded);
  if (limit !== undefined) return [{ tool: limit.tool, limit }];
  const tools = expandToolWord(word, vendor);
  return TOO_NARROW.has(folded)
    ? tools?.map((tool) => ({ tool, word, isTooWide: true }))
    : tools?.map((tool) => ({ tool }));
}

/**
 * Returns the rules that deny what a name stands for, if that is less than a tool; undefined if the tool is to
 * be denied.
 */
export function findDenyRules(word: string): readonly string[] | undefined {
  const limit = PARTIAL.get(word.toLowerCase());
  return limit === undefined || limit.rules.length === 0 ? undefined : limit.rules;
}

/** The limit that makes the tool of Muster mean no more than the name. */
export type NarrowerName =
  /** Only the calls that a rule with this specifier covers. */
  | { readonly specifier: string }
  /** Limits that no single rule can express. */
  | { readonly specifier?: never };

/** Returns, for rules, how much less a name means than its tool; undefined if it means the tool. */
export function findNarrowerMeaning(name: string): NarrowerName | undefined {
  const folded = name.toLowerCase();
  const limit = PARTIAL.get(folded);
  if (limit === undefined) return TOO_NARROW.has(folded) ? {} : undefined;
  const [rule, ...others] = limit.rules;
  if (rule === undefined || others.length > 0) return {};
  return { specifier: rule.slice(limit.tool.length + 1, -1) };
}

/**
 * Returns Muster's name for a tool that any vendor may have named; undefined for an unknown one. An exact
 * spelling takes precedence, then case is ignored. `mcp__…` names are kept.
 */
export function canonicalToolName(name: string): string | undefined {
  if (name.startsWith('mcp__')) return name;
  if (OWN.has(name)) return name;
  return EXACT().get(name) ?? FOLDED().get(name.toLowerCase());
}

/**
 * Returns every tool that a name in an agent file stands for, in canonical names: a group of that vendor
 * (`AgentOrigin.vendor`), a group that all vendors share, or a single tool. Undefined for an unknown name. Use
 * this for denials and questions; a tool may do more than the name means, so grants come from `grantedTools`.
 */
export function expandToolWord(word: string, vendor: string): readonly string[] | undefined {
  const folded = word.toLowerCase();
  const group = VENDOR_GROUPS.get(`${vendor} ${folded}`) ?? GROUPS.get(folded);
  if (group !== undefined) return group;
  const name = canonicalToolName(word);
  return name === undefined ? undefined : [name];
}
