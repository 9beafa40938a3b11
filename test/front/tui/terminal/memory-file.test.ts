import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeNote } from '../../../../src/front/tui/terminal/memory-file.ts';
import { canMount, smallDisk } from '../../../small-disk.ts';
import { tempDirectory } from '../../../sys/temp.ts';

it.runIf(canMount)(
  'a note on a full disk is one clear error, and the file stays as it was',
  async () => {
    const cwd = smallDisk(64);
    const path = join(cwd, 'AGENTS.md');
    const before = `${'x'.repeat(40_000)}\n`;
    writeFileSync(path, before);
    await expect(writeNote({ note: 'Use pnpm.', scope: 'project' }, cwd)).rejects.toThrow(
      `${path} cannot be written: no space left on the device`,
    );
    expect([readFileSync(path, 'utf8'), readdirSync(cwd)]).toEqual([before, ['AGENTS.md']]);
  },
);

it('a note does not make a context file larger than it may be', async () => {
  const cwd = tempDirectory();
  const path = join(cwd, 'AGENTS.md');
  writeFileSync(path, 'kept\n');
  const note = 'x'.repeat(300_000);
  await expect(writeNote({ note, scope: 'project' }, cwd)).rejects.toThrow(
    `${path} would have more than 262144 bytes: the note was not written`,
  );
  expect(readFileSync(path, 'utf8')).toBe('kept\n');
});
