import { sanitizeForTerminal } from '../base/terminal-text.ts';
import { collapseWhitespace, truncate } from '../base/text.ts';
import type { JsonValue } from '../base/json.ts';
import { toPrintableJson } from '../base/printable-json.ts';
import type { TaskEvent } from '../protocol/events/event.ts';

/** The maximum length of the input and of the result of a call, in code points. The log contains the rest. */
const MAX_CALL_LENGTH = 20_000;

/** A part of a conversation for a reader: a heading, and prose or verbatim text. */
export interface ConversationPart {
  readonly heading: string;
  readonly text: string;
  readonly form: 'prose' | 'verbatim';
}

/** Returns the parts of a conversation that an event adds: messages, answers, calls and their results. */
export function exportedParts(event: TaskEvent): readonly ConversationPart[] {
  switch (event.type) {
    case 'task.created':
      return prose('User', event.spec.prompt);
    case 'input.queued': {
      const { kind, from, text } = event.input;
      if (kind !== 'message') return [];
      return prose(from === 'user' ? 'User' : `Task ${from.slice(0, 8)}`, text);
    }
    case 'turn.ended':
      return event.message.content.flatMap((part) => {
        if (part.type === 'text') return prose('Answer', part.text);
        if (part.type === 'reasoning') return prose('Thinking', part.text);
        return verbatim(`Call: ${part.name}`, inputText(part.input));
      });
    case 'turn.failed':
      return [...prose('Answer', event.text ?? ''), ...prose('Error', event.failure.message)];
    case 'call.ended':
      return verbatim(
        `Result: ${event.tool}${event.error === null ? '' : ' (failed)'}`,
        event.text,
      );
    case 'call.refused':
      return verbatim(`Result: ${event.tool} (refused)`, event.text);
    case 'task.reused':
      return prose('Answer', event.text);
    default:
      return [];
  }
}

function prose(heading: string, text: string): readonly ConversationPart[] {
  return text.trim() === '' ? [] : [{ heading, text, form: 'prose' }];
}

function verbatim(heading: string, text: string): readonly ConversationPart[] {
  const shown = truncate(text, MAX_CALL_LENGTH);
  const cut = text.length - shown.length;
  const more = cut === 0 ? '' : `\n… ${cut} more characters in the log`;
  return [{ heading: collapseWhitespace(heading), text: `${shown}${more}`, form: 'verbatim' }];
}

function inputText(input: JsonValue): string {
  return toPrintableJson(input, 2);
}

/**
 * Returns the `#` of a Markdown heading of a level from 1 to 3 in a conversation. The conversations of tasks below have
 * lower headings; Markdown has six levels.
 *
 * @param depth 0 for the conversation, 1 for a task that it has started, and so on
 */
export function headingMarks(level: number, depth: number): string {
  return '#'.repeat(Math.min(6, level + 2 * depth));
}

/** Writes a part as Markdown. Control characters are removed, and code cannot end its own block. `depth`: see `headingMarks`. */
export function partAsMarkdown({ heading, text, form }: ConversationPart, depth = 0): string {
  const safe = sanitizeForTerminal(text, 'prose').trimEnd();
  const title = `${headingMarks(form === 'prose' ? 2 : 3, depth)} ${sanitizeForTerminal(heading, 'prose')}`;
  if (form === 'prose') return `${title}\n\n${safe}\n\n`;
  const longest = Math.max(2, ...Array.from(safe.matchAll(/`{3,}/g), ([marks]) => marks.length));
  const fence = '`'.repeat(longest + 1);
  return `${title}\n\n${fence}\n${safe}\n${fence}\n\n`;
}
