import { plural } from '../../../base/text.ts';
import type { Transcript } from '../model/transcript.ts';
import { answerLines } from './entry-lines.ts';
import { fitLine } from './fit.ts';
import type { Pen } from './pen.ts';

/** Returns the text of the last complete answer of a conversation in memory; null if there is none. */
export function lastAnswerText({ entries }: Pick<Transcript, 'entries'>): string | null {
  const last = entries.findLast(({ kind }) => kind === 'answer');
  return last?.kind === 'answer' ? last.text : null;
}

/** Draws the end of the last answer in at most `height` lines. Returns no lines if there is no answer. */
export function lastAnswerLines(
  transcript: Pick<Transcript, 'entries'>,
  { width, height }: { readonly width: number; readonly height: number },
  pen: Pen,
): readonly string[] {
  const text = lastAnswerText(transcript);
  if (text === null || height < 2) return [];
  const lines = answerLines(text, { pen, width }, 'complete');
  if (lines.length <= height) return lines;
  const end = lines.slice(1 - height);
  const count = plural(lines.length - end.length, 'line');
  return [fitLine(pen.prose('dim', `… ${count} before`), width), ...end];
}
