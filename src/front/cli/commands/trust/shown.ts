import { relative } from 'node:path';
import { oneLine } from '../../../../config/quote.ts';
import { isInside } from '../../../../sys/paths.ts';

/** Anything but plain letters, digits and signs. */
const NOT_PLAIN = /[^\n\u0020-\u007e]/gu;

/** JSON in which nothing is left that a terminal would act on, or that looks like something else. */
export function plainJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  const plain = json.replace(NOT_PLAIN, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
  return `${plain}\n`;
}

/** A path as it is read in its project, on one line. */
export function pathIn(project: string, path: string): string {
  return oneLine(isInside(project, path) ? relative(project, path) : path);
}

/** `2026-11-22`. */
export function dayOf(time: string): string {
  return time.slice(0, 10);
}
