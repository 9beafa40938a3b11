/** Tools that search everything in a directory. */
export const SEARCHING_TOOLS: readonly string[] = ['LS', 'Glob', 'Grep', 'FindPlaces'];

/**
 * The tool that asks language servers. Agents with the core tools have it, too, if there is a server for the workspace.
 */
export const CODE_TOOL = 'Code';

/** Tools that show files, or parts and properties of files. Rules for Read apply to all of them. */
export const FILE_READING_TOOLS: readonly string[] = [
  'Read',
  ...SEARCHING_TOOLS,
  'FileInfo',
  CODE_TOOL,
];

/** The tool that applies patches. It takes the place of Write and Edit for models that are trained to write patches. */
export const PATCH_TOOL = 'PatchFiles';

/** Tools that change the text of files. Rules for Edit apply to all of them. */
export const TEXT_EDITING_TOOLS: readonly string[] = ['Write', 'Edit', 'MultiEdit', PATCH_TOOL];

/** Tools that remove files from their paths. */
export const FILE_REMOVING_TOOLS: readonly string[] = ['MoveFile', 'DeleteFile'];

/** All tools that change files. */
export const FILE_CHANGING_TOOLS: readonly string[] = [
  ...TEXT_EDITING_TOOLS,
  ...FILE_REMOVING_TOOLS,
];
