import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 12;
/** The largest multiple of 36 below 256: bytes above it would favour some letters. */
const UNBIASED = 252;

/** A new id, 12 of `[a-z0-9]` (62 bits): for tasks, inputs and questions. */
export function newId(): string {
  let id = '';
  while (id.length < ID_LENGTH) {
    for (const byte of randomBytes(ID_LENGTH * 2)) {
      if (byte < UNBIASED && id.length < ID_LENGTH) id += ALPHABET[byte % ALPHABET.length];
    }
  }
  return id;
}

const ID_PATTERN = /^[a-z0-9]{8,32}$/;

/** Whether a string has the form of a Muster id. Anything else never reaches a path. */
export function isId(value: string): boolean {
  return ID_PATTERN.test(value);
}
