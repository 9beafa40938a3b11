import { expect, test } from 'vitest';
import {
  canonicalToolName,
  expandToolName,
  findGrantedTools,
} from '../../src/protocol/tool-aliases.ts';
import { CORE_TOOLS, TOOL_NAMES } from '../../src/protocol/tool-names.ts';

test("Muster's own names are their own, in any case", () => {
  for (const name of TOOL_NAMES) {
    expect([canonicalToolName(name), canonicalToolName(name.toUpperCase())]).toEqual([name, name]);
  }
});

test.each([
  ['read_file', 'Read'],
  ['NotebookEdit', 'Edit'],
  ['edit', 'Edit'],
  ['apply_patch', 'Edit'],
  ['run_shell_command', 'Bash'],
  ['search/codebase', 'Grep'],
  ['list_directory', 'LS'],
  ['http_get', 'WebFetch'],
  ['http_post', 'HttpRequest'],
  ['Agent', 'Task'],
  ['spawn_subagent', 'Task'],
  ['BashOutput', 'TaskOutput'],
  ['KillShell', 'TaskStop'],
  ['AskUserQuestion', 'AskUser'],
  ['SendMessage', 'TaskSend'],
  ['mcp__Server__Tool', 'mcp__Server__Tool'],
  ['constructor', undefined],
  ['__proto__', undefined],
  ['', undefined],
  ['githubRepo', undefined],
])('%j is %s', (word, name) => expect(canonicalToolName(word)).toBe(name));

test.each<[string, string, readonly string[] | undefined]>([
  ['search', 'claude', ['Grep', 'Glob']],
  ['web', 'copilot', ['WebFetch', 'WebSearch']],
  ['edit', 'copilot', ['Edit', 'Write']],
  ['edit', 'claude', ['Edit']],
  ['Read-Only', 'factory', ['Read', 'LS', 'Grep', 'Glob']],
  ['execute', 'factory', ['Bash']],
  ['mcp', 'factory', ['mcp__*']],
  ['mcp', 'claude', undefined],
  ['@builtin', 'kiro', CORE_TOOLS],
  ['fs_write', 'kiro', ['Write', 'Edit']],
  ['developer', 'goose', ['Read', 'Write', 'Edit', 'Bash']],
  ['developer', 'claude', undefined],
  ['grep', 'any', ['Grep']],
  ['problems', 'copilot', undefined],
])('%s of %s stands for %j', (word, vendor, names) => {
  expect(expandToolName(word, vendor)).toEqual(names);
});

const PICTURES = ['png', 'jpg', 'jpeg', 'gif', 'webp'].map((each) => `Read(//**/*.${each})`);
const only = (tool: string, ...rules: readonly string[]) => [{ tool, limit: { tool, rules } }];
const newFiles = [{ tool: 'Write', limit: { tool: 'Write', rules: [], newFiles: true } }];

/** What a name grants is never more than the tool of that name does where it comes from. */
test.each<[string, string, readonly object[] | undefined]>([
  ['Edit', 'claude', [{ tool: 'Edit' }]],
  ['apply_patch', 'codex', [{ tool: 'Edit' }, { tool: 'Write' }]],
  ['write', 'kiro', [{ tool: 'Write' }, { tool: 'Edit' }]],
  ['write', 'pi', [{ tool: 'Write' }]],
  ['NotebookEdit', 'claude', only('Edit', 'Edit(//**/*.ipynb)')],
  ['notebookedit', 'claude', only('Edit', 'Edit(//**/*.ipynb)')],
  ['edit/editNotebook', 'copilot', only('Edit', 'Edit(//**/*.ipynb)')],
  ['NotebookRead', 'claude', only('Read', 'Read(//**/*.ipynb)')],
  ['read/getNotebookSummary', 'copilot', only('Read', 'Read(//**/*.ipynb)')],
  ['read/viewImage', 'copilot', only('Read', ...PICTURES)],
  ['Create', 'factory', newFiles],
  ['create', 'copilot', newFiles],
  ['create_file', 'copilot', newFiles],
  ['edit/createFile', 'copilot', newFiles],
  [
    'edit/createDirectory',
    'copilot',
    [{ tool: 'Write', word: 'edit/createDirectory', isTooWide: true }],
  ],
  ['TodoRead', 'claude', [{ tool: 'TodoWrite', word: 'TodoRead', isTooWide: true }]],
  ['todoread', 'opencode', [{ tool: 'TodoWrite', word: 'todoread', isTooWide: true }]],
  ['http_post', 'gen', [{ tool: 'HttpRequest' }]],
  ['list_directory', 'gemini', [{ tool: 'LS' }]],
  ['githubRepo', 'copilot', undefined],
])('%s of %s grants %j', (word, vendor, granted) => {
  expect(findGrantedTools(word, vendor)).toEqual(granted);
});

/** The catalogue of S0: every name works in a definition. */
test.each([
  ['current_time', 'CurrentTime'],
  ['sleep', 'Sleep'],
  ['get_env', 'GetEnv'],
  ['set_env', 'SetEnv'],
  ['read_file', 'Read'],
  ['write_file', 'Write'],
  ['list_files', 'LS'],
  ['delete_file', 'DeleteFile'],
  ['move_file', 'MoveFile'],
  ['get_file_info', 'FileInfo'],
  ['edit_file', 'Edit'],
  ['grep_files', 'Grep'],
  ['http_get', 'WebFetch'],
  ['http_post', 'HttpRequest'],
  ['http_request', 'HttpRequest'],
  ['web_search', 'WebSearch'],
  ['json_parse', 'JsonParse'],
  ['json_stringify', 'JsonStringify'],
  ['base64_encode', 'Base64Encode'],
  ['base64_decode', 'Base64Decode'],
  ['memory_list', 'MemoryList'],
  ['memory_read', 'MemoryRead'],
  ['memory_write', 'MemoryWrite'],
  ['memory_patch', 'MemoryPatch'],
  ['memory_append', 'MemoryAppend'],
  ['task_list', 'TaskList'],
  ['task_replay', 'TaskReplay'],
  ['notify', 'Notify'],
  ['spawn_subagent', 'Task'],
])('%s is %s', (word, name) => {
  expect(expandToolName(word, 'gen')).toEqual([name]);
});
