import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares two tokens in a time that does not depend on where they differ, nor on their lengths. */
export function isSameToken(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
