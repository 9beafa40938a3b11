import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { buildCopy, filesIn, packCheckout, ROOT } from '../package/checkout.ts';

/** `dist/` must be built from the present sources, with the types, as `npm run test:world` does. */
it('a build in another directory gives the same bytes, with types and tarball', async () => {
  const packed = mkdtempSync(join(tmpdir(), 'muster-built-'));
  onTestFinished(() => rmSync(packed, { recursive: true, force: true }));
  const other = join(packed, 'a copy', 'of the checkout');
  await buildCopy(other);
  const first = filesIn(join(ROOT, 'dist'));
  expect(Object.keys(first).length).toBeGreaterThan(10);
  expect(filesIn(join(other, 'dist'))).toEqual(first);
  const ours = readFileSync(await packCheckout(ROOT, join(packed, 'ours')));
  const theirs = readFileSync(await packCheckout(other, join(packed, 'theirs')));
  expect(theirs.equals(ours)).toBe(true);
});
