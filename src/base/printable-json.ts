import { lazy } from './lazy.ts';

/** What a terminal acts on or hides, and JSON leaves as it is. */
const UNSAFE = lazy(
  () => /[\u007f-\u009f\p{DI}\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\u2800\u{e0000}-\u{e007f}]/gu,
);

/**
 * A value as JSON that is safe to print, whatever it quotes: the same value, what could steer or
 * deceive a terminal written as `\u202e`.
 */
export function toPrintableJson(value: unknown, indent = 0): string {
  const json = JSON.stringify(value, null, indent);
  return json.replace(UNSAFE(), (character) => {
    const units = character.split('');
    return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  });
}
