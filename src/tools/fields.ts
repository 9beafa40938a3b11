import type { ArgumentAliases } from './arguments.ts';

/** Schemas and other names of the arguments that several tools take. */
export const FILE_PATH = { type: 'string', minLength: 1 } as const;

export const FILE_PATH_ALIASES: ArgumentAliases = {
  path: 'file_path',
  filePath: 'file_path',
  filepath: 'file_path',
  file: 'file_path',
  filename: 'file_path',
  absolute_path: 'file_path',
};

export const DIRECTORY = { type: 'string', description: 'default: working directory' } as const;

export const DIRECTORY_ALIASES: ArgumentAliases = {
  dir: 'path',
  directory: 'path',
  dir_path: 'path',
  file_path: 'path',
  filePath: 'path',
};

/** One replacement of an exact text. */
export const EDIT = {
  old_string: { type: 'string' },
  new_string: { type: 'string' },
  replace_all: { type: 'boolean' },
} as const;

export const EDIT_ALIASES: ArgumentAliases = {
  oldString: 'old_string',
  old_str: 'old_string',
  old_text: 'old_string',
  newString: 'new_string',
  new_str: 'new_string',
  new_text: 'new_string',
  replaceAll: 'replace_all',
};
