import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkPathLength, controlSocketPath } from '../../src/control/path.ts';
import { place } from './support.ts';

const token = 'abcdefghij12';

describe('the path of a control socket', () => {
  test('is in the data directory', () => {
    expect(controlSocketPath({ dataDir: '/no/such/data', token })).toBe(
      '/no/such/data/sockets/abcdefghij12.sock',
    );
  });

  test('is in the data directory up to the last byte that fits, and otherwise under /tmp', () => {
    const rest = '/sockets/abcdefghij12.sock'.length;
    const fits = `/${'d'.repeat(103 - rest - 1)}`;
    expect(controlSocketPath({ dataDir: fits, token })).toBe(`${fits}/sockets/abcdefghij12.sock`);
    expect(controlSocketPath({ dataDir: `${fits}d`, token, uid: 501 })).toMatch(
      /^\/tmp\/muster-501-[0-9a-f]{16}\/abcdefghij12\.sock$/,
    );
  });

  test('is limited in bytes, not in characters', () => {
    const dataDir = `/${'ä'.repeat(50)}`;
    expect(controlSocketPath({ dataDir, token })).toMatch(/^\/tmp\/muster-/);
  });

  test('differs for another data directory, and is stable for the same one', () => {
    const long = `/${'d'.repeat(120)}`;
    const at = (dataDir: string): string => controlSocketPath({ dataDir, token });
    expect(at(`${long}/a`)).not.toBe(at(`${long}/b`));
    expect(at(`${long}/a/`)).toBe(at(`${long}/b/../a`));
  });

  test('is the same through a link to the data directory', () => {
    const root = place();
    const long = join(root, 'd'.repeat(120));
    mkdirSync(long);
    symlinkSync(long, join(root, 'link'));
    const real = controlSocketPath({ dataDir: long, token });
    expect(controlSocketPath({ dataDir: join(root, 'link'), token })).toBe(real);
  });

  test('fits, whatever the data directory', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[^/\0]{1,60}$/u), { maxLength: 8 }), (names) => {
        const path = controlSocketPath({ dataDir: `/no-such-root/${names.join('/')}`, token });
        expect(Buffer.byteLength(path)).toBeLessThanOrEqual(103);
        expect(() => checkPathLength(path)).not.toThrow();
      }),
    );
  });

  test.each(['', 'short', 'ABCDEFGHIJ12', '../../../etc', 'abcdefghij12\n', 'abcdefghij123'])(
    'contains no token from a damaged owner file: %j',
    (bad) => {
      expect(() => controlSocketPath({ dataDir: '/data', token: bad })).toThrow(
        'is not an owner token',
      );
    },
  );

  test('is refused for a relative data directory', () => {
    expect(() => controlSocketPath({ dataDir: 'data', token })).toThrow('is not an absolute path');
  });

  test('is refused if the system would cut it short', () => {
    expect(() => checkPathLength(`/${'x'.repeat(103)}`)).toThrow('has 104 bytes');
  });
});
