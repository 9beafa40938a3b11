import { printable } from '../../base/printable.ts';
import type { TaskEvent } from '../../protocol/event.ts';
import type { OutputFormat } from '../../protocol/output-format.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';

/** What one format writes to stdout. */
export interface Output {
  event(event: TaskEvent): void;
  result(envelope: ResultEnvelope): void;
}

export interface OutputSink {
  write(text: string): void;
  /** A person reads it on a screen, so nothing may reach it that steers a terminal. */
  readonly isTerminal: boolean;
}

export function createOutput(format: OutputFormat, sink: OutputSink): Output {
  switch (format) {
    case 'text':
      return {
        event: () => {},
        result: ({ data }) => sink.write(ended(forSink(data.result, sink))),
      };
    case 'json':
      return {
        event: () => {},
        result: (envelope) => sink.write(`${JSON.stringify(envelope)}\n`),
      };
    case 'stream-json':
      return {
        event: (event) => sink.write(`${JSON.stringify(event)}\n`),
        result: (envelope) => sink.write(`${JSON.stringify({ type: 'result', ...envelope })}\n`),
      };
    default:
      return format satisfies never;
  }
}

function forSink(text: string, { isTerminal }: OutputSink): string {
  return isTerminal ? printable(text) : text;
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
