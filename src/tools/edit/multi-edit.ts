import { defineTool } from '../shared/define-tool.ts';
import { describeEditAccess, editFile, proposeEdits } from './edit.ts';
import {
  CELL_FIELDS,
  EDIT_FIELDS,
  EDIT_ALIASES,
  FILE_PATH,
  FILE_PATH_ALIASES,
} from '../shared/common-arguments.ts';

export const multiEditTool = defineTool({
  name: 'MultiEdit',
  kind: 'edit',
  replay: 'checkable',
  ownWords: true,
  description:
    'Several Edits of one file in one step: each applies to what the one before left; all or none are made.',
  input: {
    type: 'object',
    properties: {
      file_path: FILE_PATH,
      edits: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          properties: { ...EDIT_FIELDS, ...CELL_FIELDS },
          required: ['old_string', 'new_string'],
        },
      },
    },
    required: ['file_path', 'edits'],
    fixed: { dry_run: [false] },
  },
  aliases: { ...FILE_PATH_ALIASES, ...EDIT_ALIASES, changes: 'edits' },
  describe: (input, { cwd }) => describeEditAccess(input.file_path, cwd),
  proposes: ({ file_path, edits }, { cwd }) => proposeEdits(file_path, edits, cwd),
  run: ({ file_path, edits }, context) => editFile(file_path, edits, context),
});
