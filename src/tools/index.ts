import type { AnyTool } from '../protocol/tool.ts';
import { bashTool } from './bash.ts';
import { editTool } from './edit.ts';
import { codeSearchTool } from './code-search/code-search.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';
import { lsTool } from './ls.ts';
import { MEMORY_TOOL_SET } from './memory/index.ts';
import { multiEditTool } from './multi-edit.ts';
import { readTool } from './read.ts';
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
  codeSearchTool,
];

/** The tools that work on this machine alone, in the order of a request. */
export function builtinTools(): readonly AnyTool[] {
  return BUILTIN_TOOLS;
}
