import { appendFileSync, lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { toEntryStats } from '../../../../src/sys/files/changes/entry-content.ts';
import { FileEntries } from '../../../../src/sys/files/changes/file-entries.ts';
import { KeptContents } from '../../../../src/sys/files/changes/kept-contents.ts';
import { hashContent } from '../../../../src/sys/files/read-file.ts';

const OPTIONS = { needsContent: true, isFirst: false, maxBytes: 1_000_000 };

it('a file whose stats were read while it was written has not changed again when it is complete', () => {
  const directory = mkdtempSync(join(tmpdir(), 'muster-entries-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'large');
  const entries = new FileEntries({ root: directory, contents: new KeptContents() });
  writeFileSync(path, 'a'.repeat(300_000));
  const early = toEntryStats(lstatSync(path));
  appendFileSync(path, 'the rest');
  const content = `${'a'.repeat(300_000)}the rest`;

  const seen = entries.compare(path, undefined, early, OPTIONS);
  const complete = entries.compare(path, seen?.entry, toEntryStats(lstatSync(path)), OPTIONS);
  expect(complete).toMatchObject({
    isChanged: false,
    before: { hash: hashContent(content) },
    entry: { hash: hashContent(content), stats: { size: content.length } },
  });

  writeFileSync(path, 'other');
  expect(
    entries.compare(path, complete?.entry, toEntryStats(lstatSync(path)), OPTIONS),
  ).toMatchObject({ isChanged: true, before: { hash: hashContent(content) } });
});
