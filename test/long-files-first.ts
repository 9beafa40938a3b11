import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take several seconds in which little else can be done. Without the times of an earlier run, Vitest starts
 * with the largest files, and these are small: one that started last would keep the other workers waiting.
 */
const LONG = [
  'crash/full-disk',
  'crash/kill-and-resume',
  'engine/crash-resume',
  'hostile/sandbox',
  'package/package',
  'store/kill-writer',
  'store/log/large-log',
  'web/convert/convert-page',
].map((name) => `/test/${name}.test.ts`);

/** Starts long files before all others. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is a method of the sequencer
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) =>
      LONG.some((name) => moduleId.endsWith(name));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
