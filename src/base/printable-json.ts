import { lazy } from './lazy.ts';

/** Characters that JSON leaves as they are, but that control a terminal or are invisible on it. */
const UNSAFE = lazy(
  () => /[\u007f-\u009f\p{DI}\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\u2800\u{e0000}-\u{e007f}]/gu,
);

/**
 * Serializes a value as JSON that is safe to print: characters that could control or deceive a terminal are
 * written as `\u202e`. The value stays the same.
 */
export function toPrintableJson(value: unknown, indent = 0): string {
  const json = JSON.stringify(value, null, indent);
  return json.replace(UNSAFE(), (character) => {
    const units = character.split('');
    return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  });
}
