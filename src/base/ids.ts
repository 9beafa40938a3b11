import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 12;
/** The largest multiple of 36 below 256: bytes above it would favour some letters. */
const UNBIASED = 252;

/** Random bytes. Many are drawn at a time, because each request has a high cost. */
const drawn = new Uint8Array(4096);
let used = drawn.length;

function randomByte(): number {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const byte = drawn[used] ?? UNBIASED;
  used += 1;
  return byte;
}

/** Returns a new id of 12 characters of `[a-z0-9]` (62 bits), for tasks, inputs and questions. */
export function newId(): string {
  let id = '';
  while (id.length < ID_LENGTH) {
    const byte = randomByte();
    if (byte < UNBIASED) id += ALPHABET[byte % ALPHABET.length];
  }
  return id;
}

const ID_PATTERN = /^[a-z0-9]{8,32}$/;

/** Tells whether a string has the form of a Muster id. No other string may be used in a path. */
export function isId(value: string): boolean {
  return ID_PATTERN.test(value);
}
