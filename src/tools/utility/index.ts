import type { AnyTool } from '../../protocol/tool.ts';
import { base64DecodeTool } from './base64-decode.ts';
import { base64EncodeTool } from './base64-encode.ts';
import { currentTimeTool } from './current-time.ts';
import { deleteFileTool } from './files/delete-file.ts';
import { fileInfoTool } from './files/file-info.ts';
import { getEnvTool } from './get-env.ts';
import { jsonParseTool } from './json/json-parse.ts';
import { jsonStringifyTool } from './json/json-stringify.ts';
import { moveFileTool } from './files/move-file.ts';
import { setEnvTool } from './set-env.ts';
import { sleepTool } from './sleep.ts';

/** Small tools that a definition asks for by name, in the order of a request. */
export const UTILITY_TOOLS: readonly AnyTool[] = [
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
