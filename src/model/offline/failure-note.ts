import { truncate } from '../../base/text.ts';
import { oneLine } from './quote.ts';

export function failureNote(failures: readonly string[]): string {
  const shown = failures.slice(0, 3).map((failure) => `- ${truncate(oneLine(failure), 200)}`);
  const more = failures.length > 3 ? [`- … and ${failures.length - 3} more`] : [];
  return ['Searches that failed:', ...shown, ...more].join('\n');
}
