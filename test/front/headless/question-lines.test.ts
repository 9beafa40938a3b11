import { expect, it } from 'vitest';
import { questionLines } from '../../../src/front/headless/question-lines.ts';
import { editTool } from '../../../src/tools/edit/edit.ts';

it('a replacement of every occurrence says so', () => {
  const edits = editTool.proposes?.(
    { file_path: 'a.txt', old_string: 'a\nb', new_string: 'c', replace_all: true },
    { cwd: '/w' },
  );
  const lines = questionLines(
    {
      kind: 'permission',
      id: '4o6fij6ze86hq1',
      task: '4o6fij6ze86h',
      callId: 'call',
      chain: ['main'],
      tool: 'Edit',
      commands: [],
      paths: ['/w/a.txt'],
      hosts: [],
      edits: edits ?? [],
      input: null,
      step: 'tool_default',
      reason: 'Why.',
      askedBy: null,
      rule: null,
      scopes: [],
    },
    null,
  );
  expect(lines).toEqual([
    '4o6fij6ze86hq1  main asks to run Edit:',
    '  | /w/a.txt',
    '  | every occurrence:',
    '  | - a',
    '  | - b',
    '  | + c',
    '  Why.',
    '  muster tasks answer 4o6fij6ze86hq1 yes|no',
  ]);
});
