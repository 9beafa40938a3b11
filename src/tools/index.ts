import type { AnyTool } from '../protocol/tool.ts';
import { bashTool } from './bash/bash.ts';
import { editTool } from './edit/edit.ts';
import { findPlacesTool } from './find-places/find-places.ts';
import { globTool } from './glob/glob.ts';
import { grepTool } from './grep/grep.ts';
import { lsTool } from './ls.ts';
import { MEMORY_TOOL_SET } from './memory/memory-tools.ts';
import { multiEditTool } from './edit/multi-edit.ts';
import { readTool } from './read/read.ts';
import { todoWriteTool } from './todo-write.ts';
import { UTILITY_TOOLS } from './utility/index.ts';
import { writeTool } from './write.ts';

const BUILTIN_TOOLS: readonly AnyTool[] = [
  readTool,
  writeTool,
  editTool,
  multiEditTool,
  lsTool,
  globTool,
  grepTool,
  bashTool,
  todoWriteTool,
  ...MEMORY_TOOL_SET,
  ...UTILITY_TOOLS,
];

/**
 * The tools that work on this machine alone, in the order of a request. `indexDirectory` is where what
 * is known of searched files is kept, absolute. Default: nowhere.
 */
export function builtinTools(indexDirectory: string | null = null): readonly AnyTool[] {
  return [...BUILTIN_TOOLS, findPlacesTool(indexDirectory)];
}
