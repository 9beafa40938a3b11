import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { runMuster, Sandbox } from '../e2e/muster.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/tutorial.md'), 'utf8');

/** The text without the parts that differ from run to run. */
function steady(text: string): string {
  return text
    .replaceAll(/^[a-z0-9]{12}(?= )/gm, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'TIME')
    .replaceAll(/\d+(?= events)/g, 'N')
    .trim();
}

it('the tutorial shows the output of its commands', async () => {
  const source = /cat > (\S+) <<'END'\n([\s\S]*?)END\n/.exec(page);
  using sandbox = new Sandbox({ [source?.[1] ?? '']: source?.[2] ?? '' });
  const transcripts = [...page.matchAll(/```console\n\$ muster ([^\n]*)\n([\s\S]*?)```/g)];
  expect(transcripts.length).toBe(4);
  let root = '';
  for (const [, command = '', shown = ''] of transcripts) {
    const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, word]) => quoted ?? word ?? '',
    );
    const args = words.map((word) => (word === '4zi5' ? root : word));
    const { code, stdout } = await runMuster(sandbox, args);
    expect(code).toBe(0);
    if (shown !== '') expect(steady(stdout)).toBe(steady(shown));
    if (command === 'tasks list') root = stdout.slice(0, 12);
  }
});
