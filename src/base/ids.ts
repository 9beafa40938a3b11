import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 12;
/**
 * The largest multiple of 36 below 256. Bytes from this value on are skipped, because they would favour some letters.
 */
const BIAS_LIMIT = 252;

/** A supply of random bytes. It is refilled as a whole, because each request for random bytes is expensive. */
const supply = new Uint8Array(4096);
let used = supply.length;

function randomByte(): number {
  if (used === supply.length) {
    randomFillSync(supply);
    used = 0;
  }
  const byte = supply[used] ?? BIAS_LIMIT;
  used += 1;
  return byte;
}

/** Returns a new id of 12 characters of `[a-z0-9]` (62 bits), for tasks, inputs and questions. */
export function newId(): string {
  let id = '';
  while (id.length < ID_LENGTH) {
    const byte = randomByte();
    if (byte < BIAS_LIMIT) id += ALPHABET[byte % ALPHABET.length];
  }
  return id;
}

const ID_PATTERN = /^[a-z0-9]{8,32}$/;

/** Tells whether a string has the form of a Muster id. No other string may be used in a path. */
export function isId(value: string): boolean {
  return ID_PATTERN.test(value);
}
