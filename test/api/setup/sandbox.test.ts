import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openConfiguredSandbox } from '../../../src/api/setup/sandbox.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';

test('reports files that a command of a killed run had created and that were moved away', async () => {
  const base = tempDirectory();
  const [root, dataDir] = ['work', 'data'].map((name) => join(base, name));
  if (root === undefined || dataDir === undefined) throw new Error('unreachable');
  const records = join(dataDir, 'sandbox');
  for (const path of [root, records]) mkdirSync(path, { recursive: true });
  writeFileSync(
    join(records, '4194304-1-abcdefghijkl'),
    JSON.stringify({ missing: [join(root, '.envrc')], present: [] }),
  );
  writeFileSync(join(root, '.envrc'), 'evil\n');
  const notices: string[] = [];
  openConfiguredSandbox({
    environment: {},
    home: base,
    kind: 'auto',
    caches: 'private',
    commandProcesses: 2048,
    roots: [root],
    dataDir,
    canWriteDataDir: true,
    onNotice: (line) => notices.push(line),
  });
  await waitUntilPasses(() => {
    expect(notices).toHaveLength(1);
  });
  expect(notices[0]).toMatch(
    /^\/.*\/work\/\.envrc was moved to \/.*\/data\/sandbox\/removed\/.*\. It was created by a command of a run that was killed/,
  );
  expect([readdirSync(root), readdirSync(records)]).toEqual([[], ['removed']]);
});
