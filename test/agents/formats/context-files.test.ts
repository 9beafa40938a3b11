import { expect, test } from 'vitest';
import { codexFormat, musterFormat, piFormat } from '../../../src/agents/formats/vendors.ts';

test.each([
  ['muster', musterFormat, '---\nname: a\ndescription: d\ncontext-files: false\n---\nx\n', false],
  [
    'muster',
    musterFormat,
    '---\nname: a\ndescription: d\ncontext-files: true\n---\nx\n',
    undefined,
  ],
  ['pi', piFormat, '---\nname: a\ndescription: d\ninheritProjectContext: false\n---\nx\n', false],
  [
    'codex',
    codexFormat,
    'name = "a"\ndeveloper_instructions = "x"\nproject_doc_max_bytes = 0\n',
    false,
  ],
  [
    'codex',
    codexFormat,
    'name = "a"\ndeveloper_instructions = "x"\nproject_doc_max_bytes = 9\n',
    undefined,
  ],
])('%s says whether context files are told: %#', async (vendor, format, text, told) => {
  const path = vendor === 'codex' ? '/agents/a.toml' : '/agents/a.md';
  const { items } = await format.read({ path, scope: 'user', text });
  expect(items.map(({ contextFiles }) => contextFiles)).toEqual([told]);
});
