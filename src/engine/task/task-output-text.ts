import { describeCompaction } from '../../protocol/compaction-text.ts';
import { formatClockTime } from '../../base/local-time.ts';
import { sanitizeLine, sanitizeForTerminal } from '../../base/terminal-text.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { answerText } from '../../protocol/state/questions.ts';
import { messageText } from '../../protocol/message.ts';
import { questionSubject } from '../../protocol/question.ts';

const SHOWN_INPUT = 200;

/** Returns the text that an event adds to a task's output file, which people read; null for none. */
export function eventOutputText(event: TaskEvent): string | null {
  const text = textOf(event);
  return text === null ? null : sanitizeForTerminal(text, 'prose');
}

function textOf(event: TaskEvent): string | null {
  switch (event.type) {
    case 'task.created':
      return `# ${event.spec.agent.name}: ${event.spec.description}\n\n`;
    case 'task.reused':
      return `${event.text.trim()}\n\n`;
    case 'reuse.missed':
      return `· nothing to reuse: ${firstLine(event.because)}\n\n`;
    case 'turn.ended': {
      const text = messageText(event.message).trim();
      return text === '' ? null : `${text}\n\n`;
    }
    case 'context.cleared':
    case 'summary.started':
    case 'summary.refused':
    case 'context.summarised':
    case 'context.dropped':
    case 'context.handed':
      return `~ ${describeCompaction(event)}\n`;
    case 'call.started':
      return `→ ${event.tool} ${brief(event.input)}\n`;
    case 'call.ended':
      return event.error === null ? null : `✗ ${event.tool}: ${firstLine(event.text)}\n`;
    case 'call.refused':
      return `✗ ${event.tool}: ${firstLine(event.text)}\n`;
    case 'question.asked':
      return `? ${event.question.tool}: ${sanitizeLine(questionSubject(event.question))} [question ${event.question.id}]\n`;
    case 'question.answered':
      return `» ${answerText(event.answer, event.by)}\n`;
    case 'turn.retried':
      return `… ${event.failure.message}\n`;
    case 'turn.failed': {
      const text = event.text?.trim() ?? '';
      return `${text === '' ? '' : `${text}\n\n`}… ${event.failure.message}\n`;
    }
    case 'turn.held': {
      const until = event.untilMs === null ? '' : ` until ${formatClockTime(event.untilMs)}`;
      return `… waiting for ${firstLine(event.because)}${until}\n`;
    }
    case 'notified':
      return `· ${event.message}\n`;
    case 'warning':
      return `! ${event.message}\n`;
    case 'task.ended':
      return `[${event.end.status}: ${event.end.because}]\n`;
    default:
      return null;
  }
}

function brief(input: unknown): string {
  // Shown in exact form, so that no character of what runs is hidden.
  const text = sanitizeLine(JSON.stringify(input));
  return text.length <= SHOWN_INPUT ? text : `${text.slice(0, SHOWN_INPUT)}…`;
}

function firstLine(text: string): string {
  return text.slice(0, SHOWN_INPUT).split('\n')[0] ?? '';
}
