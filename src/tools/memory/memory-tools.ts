import { NO_ACCESS } from '../../protocol/permission.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import { defineBuiltinTool } from '../shared/define-tool.ts';

const FILE = { type: 'string' } as const;
const SCOPE = { type: 'string' } as const;
const ALIASES = {
  name: 'file',
  path: 'file',
  key: 'file',
  file_path: 'file',
  content: 'text',
  value: 'text',
  old_string: 'old',
  old_text: 'old',
  new_string: 'new',
  new_text: 'new',
};

/**
 * The common part of the definitions below. Notes have no effects that need permission. An agent may use them if its
 * definition lists these tools.
 */
const COMMON_FIELDS = { kind: 'meta', aliases: ALIASES, describe: () => NO_ACCESS } as const;

/**
 * The tools for Muster's own notes, in the order in which a request lists them. Their code is loaded at the first
 * call, because most runs make none.
 */
export const MEMORY_TOOL_SET: readonly AnyTool[] = [
  defineBuiltinTool({
    ...COMMON_FIELDS,
    name: 'MemoryList',
    replay: 'pure',
    description: 'Lasting notes. scope: user, project, local',
    input: { type: 'object', properties: { scope: SCOPE }, required: [] },
    run: async (input, context) => (await import('./run.ts')).listMemoryNotes(input, context),
  }),
  defineBuiltinTool({
    ...COMMON_FIELDS,
    name: 'MemoryRead',
    replay: 'pure',
    description: 'Read one',
    input: {
      type: 'object',
      properties: { file: FILE, scope: SCOPE, offset: { type: 'integer', minimum: 1 } },
      required: ['file'],
    },
    run: async (input, context) => (await import('./run.ts')).readMemoryNote(input, context),
  }),
  defineBuiltinTool({
    ...COMMON_FIELDS,
    name: 'MemoryWrite',
    replay: 'opaque',
    description: 'Write a note',
    input: {
      type: 'object',
      properties: { file: FILE, text: { type: 'string' }, scope: SCOPE },
      required: ['file', 'text'],
    },
    run: async (input, context) => (await import('./run.ts')).writeMemoryNote(input, context),
  }),
  defineBuiltinTool({
    ...COMMON_FIELDS,
    name: 'MemoryPatch',
    replay: 'opaque',
    description: 'Replace a unique text',
    input: {
      type: 'object',
      properties: {
        file: FILE,
        old: { type: 'string' },
        new: { type: 'string' },
        scope: SCOPE,
      },
      required: ['file', 'old', 'new'],
    },
    run: async (input, context) => (await import('./run.ts')).patchMemoryNote(input, context),
  }),
  defineBuiltinTool({
    ...COMMON_FIELDS,
    name: 'MemoryAppend',
    replay: 'opaque',
    description: 'Add to a note',
    input: {
      type: 'object',
      properties: { file: FILE, text: { type: 'string' }, scope: SCOPE },
      required: ['file', 'text'],
    },
    run: async (input, context) => (await import('./run.ts')).appendMemoryNote(input, context),
  }),
  defineBuiltinTool({
    ...COMMON_FIELDS,
    name: 'MemoryDelete',
    replay: 'opaque',
    description: 'Delete one',
    input: { type: 'object', properties: { file: FILE, scope: SCOPE }, required: ['file'] },
    run: async (input, context) => (await import('./run.ts')).deleteMemoryNote(input, context),
  }),
];
