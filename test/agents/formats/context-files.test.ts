import { expect, test } from 'vitest';
import { codex, muster, pi } from '../../../src/agents/formats/vendors.ts';

test.each([
  ['muster', muster.agents, '---\nname: a\ndescription: d\ncontext-files: false\n---\nx\n', false],
  [
    'muster',
    muster.agents,
    '---\nname: a\ndescription: d\ncontext-files: true\n---\nx\n',
    undefined,
  ],
  ['pi', pi.agents, '---\nname: a\ndescription: d\ninheritProjectContext: false\n---\nx\n', false],
  [
    'codex',
    codex.agents,
    'name = "a"\ndeveloper_instructions = "x"\nproject_doc_max_bytes = 0\n',
    false,
  ],
  [
    'codex',
    codex.agents,
    'name = "a"\ndeveloper_instructions = "x"\nproject_doc_max_bytes = 9\n',
    undefined,
  ],
])('%s determines whether the agent gets context files: %#', async (vendor, format, text, told) => {
  const path = vendor === 'codex' ? '/agents/a.toml' : '/agents/a.md';
  const { items } = await format.read({ path, scope: 'user', text });
  expect(items.map(({ contextFiles }) => contextFiles)).toEqual([told]);
});
