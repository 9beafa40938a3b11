import type { TaskEvent } from '../../protocol/events/event.ts';
import type { OutputFormat } from '../../protocol/output-format.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';
import { resultLine } from '../../protocol/stream-line.ts';
import { printAnswer, printJson } from '../../sys/print.ts';

/** What one format writes to stdout. */
export interface Output {
  event(event: TaskEvent): void;
  result(envelope: ResultEnvelope): void;
}

export function createOutput(format: OutputFormat): Output {
  switch (format) {
    case 'text':
      return { event: () => {}, result: ({ data }) => printAnswer(ended(data.result)) };
    case 'json':
      return { event: () => {}, result: (envelope) => printJson(envelope) };
    case 'stream-json':
      return {
        event: (event) => printJson(event),
        result: (envelope) => printJson(resultLine(envelope)),
      };
    default:
      return format satisfies never;
  }
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
