/** Tools that search everything in a directory. */
export const SEARCHING_TOOLS: readonly string[] = ['LS', 'Glob', 'Grep', 'FindPlaces'];

/** Tools that show files, or parts and properties of files. Rules for Read apply to all of them. */
export const FILE_READING_TOOLS: readonly string[] = ['Read', ...SEARCHING_TOOLS, 'FileInfo'];

/** Tools that change the text of files. Rules for Edit apply to all of them. */
export const TEXT_EDITING_TOOLS: readonly string[] = ['Write', 'Edit', 'MultiEdit'];

/** Tools that remove files from their paths. */
export const FILE_REMOVING_TOOLS: readonly string[] = ['MoveFile', 'DeleteFile'];

/** All tools that change files. */
export const FILE_CHANGING_TOOLS: readonly string[] = [
  ...TEXT_EDITING_TOOLS,
  ...FILE_REMOVING_TOOLS,
];
