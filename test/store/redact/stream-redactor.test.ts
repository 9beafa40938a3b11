import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRedactor, createStreamRedactor } from '../../../src/store/redact/redactor.ts';

const SECRETS = ['s3cret value with blanks', 'schlüssel-für-alles', 'abcabcabcabd'];
const options = { secrets: SECRETS };
const redact = createRedactor(options);
const stream = createStreamRedactor(options);

function inChunks(bytes: Buffer, places: readonly number[]): string {
  const filter = stream();
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length];
  let start = 0;
  const pieces: Buffer[] = [];
  for (const end of ends.toSorted((a, b) => a - b)) {
    pieces.push(filter.write(bytes.subarray(start, end)));
    start = end;
  }
  return Buffer.concat([...pieces, filter.end()]).toString('utf8');
}

const KEY = 'aB3'.repeat(16);
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${KEY}\n${KEY}\n-----END RSA PRIVATE KEY-----`;
const jwt = ['eyJhbGciOiJIUzI1', 'eyJzdWIiOiIxMjM0', KEY].join('.');

it('redacts the same wherever the bytes are split', () => {
  const encoded = SECRETS.flatMap((secret) => [
    Buffer.from(secret).toString('base64'),
    encodeURIComponent(secret),
  ]);
  const keys = [`sk-ant-${KEY}`, `glpat-${KEY}`, `AKIA${'A'.repeat(16)} `, `Bearer ${jwt}`, PEM];
  const parts = 's3cret|abcabc| |task-|é|-----|-----BEGIN |Bearer '.split('|');
  const piece = fc.constantFrom(...SECRETS, ...encoded, ...keys, ...parts);
  const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('\n'));
  fc.assert(
    fc.property(text, fc.array(fc.nat(), { maxLength: 12 }), (whole, places) => {
      expect(inChunks(Buffer.from(whole), places)).toBe(redact(whole));
    }),
    { numRuns: 2_000 },
  );
});

it('passes on at once what cannot be a secret, and keeps bytes that are not text', () => {
  const filter = stream();
  expect(filter.write(Buffer.from('listening on port 3000')).toString()).toBe(
    'listening on port 3000',
  );
  const bytes = Buffer.from([0, 255, 254, 10, 128, 13]);
  expect(Buffer.concat([stream().write(bytes)])).toEqual(bytes);
});

it('holds back no more than a limit', () => {
  const filter = stream();
  const begun = filter.write(Buffer.from(`-----BEGIN PRIVATE KEY-----\n${'a b '.repeat(10_000)}`));
  expect(begun.length).toBeGreaterThan(10_000);
  expect(begun.toString()).not.toContain('BEGIN');
});
