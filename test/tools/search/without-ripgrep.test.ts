import { expect, test, vi } from 'vitest';
import { makeWorkspace } from '../workspace.ts';
import { listFiles } from '../../../src/api/session/list-files.ts';

vi.mock('@vscode/ripgrep', () => ({ rgPath: '/nowhere/rg' }));

const MESSAGE =
  'Files cannot be searched or listed, because ripgrep cannot be run: /nowhere/rg cannot be run: there is no such file. Install Muster again with its optional dependencies (npm install -g --include=optional muster-agent); `muster doctor` checks the result.';

test.each([
  ['Grep', { pattern: 'hay' }],
  ['Glob', { pattern: '*.ts' }],
  ['FindPlaces', { question: 'hay' }],
])('without ripgrep %s fails with an error that says what to do', async (tool, input) => {
  const at = makeWorkspace();
  at.write('a.ts', 'hay\n');
  expect(await at.call(tool, input)).toEqual({ text: MESSAGE, error: 'INTERNAL_ERROR' });
});

test('without ripgrep the list of files for completion fails with the same error', async () => {
  const at = makeWorkspace();
  await expect(listFiles(at.root, at.context.signal)).rejects.toMatchObject({ message: MESSAGE });
});
