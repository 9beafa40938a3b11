import type { AnyTool } from '../protocol/tool.ts';
import { codeSearchTool } from './code-search/code-search.ts';
import { editTool, multiEditTool } from './edit/edit.ts';
import { globTool } from './glob/glob.ts';
import { grepTool } from './grep/grep.ts';
import { lsTool } from './ls.ts';
import { patchFilesTool } from './patch/patch-files.ts';
import { readTool } from './read/read.ts';
import { base64DecodeTool, base64EncodeTool } from './utility/base64.ts';
import { deleteFileTool } from './utility/files/delete-file.ts';
import { fileInfoTool } from './utility/files/file-info.ts';
import { moveFileTool } from './utility/files/move-file.ts';
import { jsonParseTool, jsonStringifyTool } from './utility/json/json-parse.ts';
import { writeTool } from './write.ts';

/**
 * The tools whose calls run in the process of an isolated task. They work on files and on their arguments, which may be
 * hostile. All other tools act through something that only Muster's own process has.
 */
export const PROCESS_TOOLS: readonly AnyTool[] = [
  readTool,
  writeTool,
  editTool,
  multiEditTool,
  patchFilesTool,
  moveFileTool,
  deleteFileTool,
  lsTool,
  globTool,
  grepTool,
  codeSearchTool,
  fileInfoTool,
  jsonParseTool,
  jsonStringifyTool,
  base64EncodeTool,
  base64DecodeTool,
];
