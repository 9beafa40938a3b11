import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { waitUntilPasses } from '../../wait-until-passes.ts';
import { KEYS } from './emulator.ts';
import { Stage } from './stage.ts';

const FILE = `${Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join('\n')}\n`;

/** A UI that shows the question whether line 20 of a file may be changed. */
async function askedToEdit(path: string): Promise<Stage> {
  const stage = new Stage();
  await stage.say('Go');
  stage.call('mainmain', 'e', 'Edit', { file_path: path });
  const edit = { path, before: 'line 20\n', after: 'line twenty\n', everywhere: false };
  stage.question('mainmain', 'e', { tool: 'Edit', commands: [], paths: [path], edits: [edit] });
  // The file is read for the first frame with the question.
  await stage.screen();
  return stage;
}

it('the change of a question has line numbers and the lines around it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'muster-edit-'));
  try {
    const path = join(directory, 'notes.md');
    writeFileSync(path, FILE);
    await using stage = await askedToEdit(path);
    // Beside a short conversation there is room for the changed lines only.
    await waitUntilPasses(async () =>
      expect(await stage.screen()).toMatch(/^│ 20 - line 20\n│ 20 \+ line twenty\n│ Bash runs/m),
    );
    await stage.emulator.press(KEYS.tab);
    await waitUntilPasses(async () =>
      expect(await stage.screen()).toMatch(
        /^│ 19 {3}line 19\n│ 20 - line 20\n│ 20 \+ line twenty\n│ 21 {3}line 21$/m,
      ),
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it.each(['/nowhere/at/all.md', '/dev/zero', tmpdir()])(
  'without the file %s the change is shown as it was proposed',
  async (path) => {
    await using stage = await askedToEdit(path);
    await waitUntilPasses(async () =>
      expect(await stage.screen()).toMatch(/^│ - line 20\n│ \+ line twenty$/m),
    );
  },
);
