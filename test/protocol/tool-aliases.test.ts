import { expect, test } from 'vitest';
import { canonicalToolName, expandToolWord } from '../../src/protocol/tool-aliases.ts';
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
  ['grep', 'any', ['Grep']],
  ['problems', 'copilot', undefined],
])('%s of %s stands for %j', (word, vendor, names) => {
  expect(expandToolWord(word, vendor)).toEqual(names);
});
