import type { AnyTool } from '../protocol/tool.ts';
import { bashTool } from './bash/bash.ts';
import { multiEditTool, editTool } from './edit/edit.ts';
import { globTool } from './glob/glob.ts';
import { grepTool } from './grep/grep.ts';
import { codeSearchTool } from './code-search/code-search.ts';
import { lsTool } from './ls.ts';
import { MEMORY_TOOL_SET } from './memory/memory-tools.ts';
import { patchFilesTool } from './patch/patch-files.ts';
import { readTool } from './read/read.ts';
import { todoWriteTool } from './todo-write.ts';
import { httpRequestTool } from './web/http-request.ts';
import { webFetchTool } from './web/web-fetch.ts';
import { writeTool } from './write.ts';
import { base64DecodeTool, base64EncodeTool } from './utility/base64.ts';
import { sleepTool, currentTimeTool } from './utility/current-time.ts';
import { deleteFileTool } from './utility/files/delete-file.ts';
import { fileInfoTool } from './utility/files/file-info.ts';
import { getEnvTool, setEnvTool } from './utility/environment.ts';
import { jsonStringifyTool, jsonParseTool } from './utility/json/json-parse.ts';
import { moveFileTool } from './utility/files/move-file.ts';

/** Small tools that no agent has by default. A definition must list them by name. */
const UTILITY_TOOLS: readonly AnyTool[] = [
  currentTimeTool,
  sleepTool,
  getEnvTool,
  setEnvTool,
  jsonParseTool,
  jsonStringifyTool,
  base64EncodeTool,
  base64DecodeTool,
  fileInfoTool,
  moveFileTool,
  deleteFileTool,
];

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
  webFetchTool,
  httpRequestTool,
  ...MEMORY_TOOL_SET,
  ...UTILITY_TOOLS,
  codeSearchTool,
  patchFilesTool,
];

/** Returns the tools that need no configuration, in the order in which a request lists them. */
export function builtinTools(): readonly AnyTool[] {
  return BUILTIN_TOOLS;
}
