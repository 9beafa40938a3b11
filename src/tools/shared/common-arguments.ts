import type { ArgumentAliases } from './arguments.ts';

/** The argument that names a file. */
export const FILE_PATH = { type: 'string', minLength: 1 } as const;

/** Other names of the argument that names a file. */
export const FILE_PATH_ALIASES: ArgumentAliases = {
  path: 'file_path',
  file: 'file_path',
  filename: 'file_path',
  absolute_path: 'file_path',
  target_file: 'file_path',
  notebook_path: 'file_path',
};

/** The argument that names a directory. */
export const DIRECTORY = { type: 'string', description: 'default: working directory' } as const;

/** Other names of the argument that names a directory. */
export const DIRECTORY_ALIASES: ArgumentAliases = {
  dir: 'path',
  directory: 'path',
  dir_path: 'path',
  directory_path: 'path',
  target_directory: 'path',
  relative_workspace_path: 'path',
  file_path: 'path',
};

/** The names of the one encoding in which new files are written, as calls for other products give them. */
export const UTF_8 = ['utf-8', 'utf8', 'UTF-8', 'UTF8'] as const;

/** The arguments of one replacement of an exact text. */
export const EDIT_FIELDS = {
  old_string: { type: 'string' },
  new_string: { type: 'string' },
  replace_all: { type: 'boolean' },
  expected_replacements: { type: 'integer', minimum: 1, unlisted: true },
} as const;

/** The arguments that name a cell of a notebook and say what to do with it. */
export const CELL_FIELDS = {
  cell_id: { type: 'string', unlisted: true },
  cell_type: { type: 'string', enum: ['code', 'markdown', 'raw'], unlisted: true },
  edit_mode: { type: 'string', enum: ['replace', 'insert', 'delete'], unlisted: true },
} as const;

/** Other names of the arguments of a replacement. */
export const EDIT_ALIASES: ArgumentAliases = {
  old_str: 'old_string',
  old_text: 'old_string',
  new_str: 'new_string',
  new_text: 'new_string',
  new_source: 'new_string',
  allow_multiple: 'replace_all',
};
