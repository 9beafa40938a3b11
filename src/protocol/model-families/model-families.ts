import { PATCH_TOOL } from '../file-tools.ts';

/** The form in which a tool is described to the models of a family. */
export interface ToolShape {
  readonly name: string;
  /**
   * The names of arguments by Muster's names, in the order in which the family has them. Arguments that are not listed
   * follow under Muster's names. The names hold for the objects in lists, too.
   */
  readonly arguments?: Readonly<Record<string, string>>;
  /** A sentence that follows Muster's description. It says what the vendor's own agent tells its models. */
  readonly hint?: string;
}

/** The form in which the models of a family were trained to call tools. */
export interface ModelFamily {
  readonly name: string;
  /** Matches the ids of its models, in lower case and without the name of a provider. */
  readonly models: RegExp;
  /** The public source of the names. */
  readonly source: string;
  /** The forms of tools by Muster's names. Other tools have Muster's form. */
  readonly tools: Readonly<Record<string, ToolShape>>;
  /** The tools that are not described where a task has the tool that replaces them for the family. */
  readonly replaces: Readonly<Record<string, readonly string[]>>;
}

const THREE_LINES =
  'Include at least three lines of context before and after the change, and escape nothing.';

/**
 * The families of models whose own agents call tools by other names than Muster. The models of Anthropic, and those of
 * GLM and DeepSeek, whose vendors recommend Claude Code, know Muster's names. So does any model of no family.
 */
export const MODEL_FAMILIES: readonly ModelFamily[] = [
  {
    name: 'openai',
    models: /^(?:gpt-[4-9]|o[1-9]\b|codex|chatgpt)/,
    source: 'openai/codex, codex-rs/core/src/tools and codex-rs/apply-patch',
    replaces: { [PATCH_TOOL]: ['Write', 'Edit', 'MultiEdit'] },
    tools: {
      PatchFiles: {
        name: 'apply_patch',
        arguments: { patch: 'input' },
        hint: 'Do not read the files again afterwards. Use a command for changes that a script makes more easily.',
      },
      Read: { name: 'read_file' },
      LS: { name: 'list_dir', arguments: { path: 'dir_path' } },
      Grep: {
        name: 'grep_files',
        arguments: { pattern: 'pattern', glob: 'include', path: 'path', head_limit: 'limit' },
      },
      Bash: { name: 'shell_command', arguments: { command: 'command', timeout: 'timeout_ms' } },
      TodoWrite: {
        name: 'update_plan',
        arguments: { todos: 'plan', content: 'step', status: 'status' },
      },
    },
  },
  {
    name: 'gemini',
    models: /^(?:gemini|gemma)/,
    source: 'google-gemini/gemini-cli, packages/core/src/tools/definitions',
    replaces: { Edit: ['MultiEdit'] },
    tools: {
      Read: { name: 'read_file' },
      Write: { name: 'write_file' },
      Edit: {
        name: 'replace',
        arguments: {
          file_path: 'file_path',
          old_string: 'old_string',
          new_string: 'new_string',
          replace_all: 'allow_multiple',
        },
        hint: THREE_LINES,
      },
      LS: { name: 'list_directory', arguments: { path: 'dir_path' } },
      Glob: { name: 'glob', arguments: { pattern: 'pattern', path: 'dir_path' } },
      Grep: {
        name: 'grep_search',
        arguments: {
          pattern: 'pattern',
          path: 'dir_path',
          glob: 'include_pattern',
          include_ignored: 'no_ignore',
          head_limit: 'total_max_matches',
        },
      },
      Bash: {
        name: 'run_shell_command',
        arguments: { command: 'command', run_in_background: 'is_background' },
      },
      TodoWrite: { name: 'write_todos', arguments: { todos: 'todos', content: 'description' } },
      WebFetch: { name: 'web_fetch' },
      WebSearch: { name: 'google_web_search' },
    },
  },
  {
    name: 'qwen',
    models: /^(?:qwen|qwq)/,
    source: 'QwenLM/qwen-code, packages/core/src/tools',
    replaces: { Edit: ['MultiEdit'] },
    tools: {
      Read: { name: 'read_file' },
      Write: { name: 'write_file' },
      Edit: { name: 'edit', hint: THREE_LINES },
      LS: { name: 'list_directory' },
      Glob: { name: 'glob' },
      Grep: {
        name: 'grep_search',
        arguments: { pattern: 'pattern', path: 'path', glob: 'glob', head_limit: 'limit' },
      },
      Bash: {
        name: 'run_shell_command',
        arguments: { command: 'command', run_in_background: 'is_background' },
      },
      TodoWrite: { name: 'todo_write' },
      WebFetch: { name: 'web_fetch' },
      WebSearch: { name: 'web_search' },
    },
  },
  {
    name: 'kimi',
    models: /^(?:kimi|moonshot)/,
    source: 'MoonshotAI/kimi-cli, src/kimi_cli/tools',
    replaces: { MultiEdit: ['Edit'] },
    tools: {
      Read: {
        name: 'ReadFile',
        arguments: { file_path: 'path', offset: 'line_offset', limit: 'n_lines' },
      },
      Write: { name: 'WriteFile', arguments: { file_path: 'path' } },
      MultiEdit: {
        name: 'StrReplaceFile',
        arguments: { file_path: 'path', edits: 'edit', old_string: 'old', new_string: 'new' },
        hint: 'Several changes of one file belong into one call.',
      },
      Glob: { name: 'Glob', arguments: { pattern: 'pattern', path: 'directory' } },
      Bash: { name: 'Shell' },
      TodoWrite: { name: 'SetTodoList', arguments: { content: 'title' } },
      WebFetch: { name: 'FetchURL' },
      WebSearch: { name: 'SearchWeb' },
    },
  },
];

/**
 * The values of the setting `models.family`: by the name of the model, Muster's own form of tools, or the form of one
 * family for every model.
 */
export const FAMILY_CHOICES: readonly string[] = [
  'auto',
  'muster',
  ...MODEL_FAMILIES.map(({ name }) => name),
];

/**
 * Finds the family of a model. Returns null for a model that is described Muster's own tools.
 *
 * @param modelId the id of the provider, such as `gpt-5.2`, or `openai/gpt-5.2` of a service that offers many vendors
 * @param choice the setting `models.family`
 */
export function findModelFamily(modelId: string, choice = 'auto'): ModelFamily | null {
  if (choice !== 'auto') return MODEL_FAMILIES.find(({ name }) => name === choice) ?? null;
  const name = modelId.toLowerCase().split('/').at(-1) ?? '';
  return MODEL_FAMILIES.find(({ models }) => models.test(name)) ?? null;
}
