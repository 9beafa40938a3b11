import { lazy } from '../../../base/lazy.ts';
import { textDiff, UNLIMITED_DIFF } from '../model/text-diff.ts';
import { diffLines } from './diff-lines.ts';
import { fitLine } from './fit.ts';
import { markdownLines } from './markdown.ts';
import type { Pen } from './pen.ts';

const TEXT = '### A heading with `code`\n\n```ts\nreturn limit; // at most 30\n```';

const sampleDiff = lazy(() =>
  textDiff('const limit = 3;\nrun();\n', 'const limit = 30;\nrun();\n', UNLIMITED_DIFF),
);

/** Draws a heading, code and a change in the present colors. */
export function themeSample(width: number, pen: Pen): readonly string[] {
  const diff = sampleDiff();
  return pen.keep(diff, `sample ${width}`, () =>
    [...markdownLines(TEXT, { width, isOpen: false }, pen), ...diffLines(diff, pen, 'ts')]
      .filter((line) => line !== '')
      .map((line) => fitLine(line, width)),
  );
}
