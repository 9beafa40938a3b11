import { plural } from '../../../../base/text.ts';
import type { TaskEvent } from '../../../../protocol/events/event.ts';
import { formatShortCount } from '../../../../report/figures.ts';

/** A short text about an event, for the transcript. */
interface EventNote {
  readonly tone: 'quiet' | 'warning' | 'error';
  readonly text: string;
}

const quiet = (text: string): EventNote => ({ tone: 'quiet', text });
const warning = (text: string): EventNote => ({ tone: 'warning', text });
const error = (text: string): EventNote => ({ tone: 'error', text });

/** Describes an event that is neither a message nor a call; returns null if a reader need not know it. */
export function describeNote(event: TaskEvent): EventNote | null {
  switch (event.type) {
    case 'task.held':
      return quiet(`Waits for ${event.because}`);
    case 'task.resumed':
      return quiet(event.by === 'user' ? 'Resumed by a person' : `Resumed by task ${event.by}`);
    case 'task.reused':
      return quiet(
        `Took over the result of task ${event.of}: everything that it read is unchanged`,
      );
    case 'task.rewound':
      return warning(
        event.only === 'files'
          ? `Files went back to the state after event ${event.to}`
          : `Went back to event ${event.to}: what follows it no longer counts`,
      );
    case 'terms.changed':
      return event.fallback !== undefined || event.escalation !== undefined
        ? warning(`Continues with the model ${event.model.provider}/${event.model.id}`)
        : null;
    case 'input.withdrawn':
      return quiet(`${plural(event.ids.length, 'waiting message')} withdrawn`);
    case 'turn.held':
      return quiet(`Waits for ${event.because}`);
    case 'turn.retried':
      return warning(`The request failed and is sent again: ${event.failure.message}`);
    case 'turn.failed':
      return error(`The request failed: ${event.failure.message}`);
    case 'turn.interrupted':
      return warning(`Interrupted: ${event.because}`);
    case 'context.cleared':
      return quiet(`${plural(event.calls.length, 'old result')} removed from the conversation`);
    case 'context.summarised': {
      const { before, after } = event.size;
      return quiet(
        `The conversation was summarized: ${formatShortCount(before)} → ${formatShortCount(after)} tokens`,
      );
    }
    case 'summary.refused':
    case 'context.dropped':
      return warning(`The conversation could not be summarized: ${event.because}`);
    case 'question.asked':
      return quiet(`Asks a person (${event.question.id})`);
    case 'question.answered':
      return quiet(
        `Question ${event.question} answered: ${event.answer.kind}${event.by === 'user' ? '' : ` (by a ${event.by})`}`,
      );
    case 'rights.granted':
      return quiet('A person has added a permission rule');
    case 'rights.restricted':
      return quiet(`A person has added a rule to the list ${event.list}`);
    case 'mode.granted':
      return quiet('A person has granted a wider mode');
    case 'task.parked':
      return warning('Parked: it continues when its questions are answered');
    case 'child.detached':
      return quiet(`Child ${event.child} continues in the background: ${event.because}`);
    case 'child.ended':
      return quiet(`Child ${event.child} ended: ${event.status}`);
    case 'shell.started':
      return quiet(`Shell ${event.shell} started in the background`);
    case 'shell.ended':
      return quiet(
        `Shell ${event.shell} ended: ${event.end}${event.exitCode === null ? '' : `, exit code ${event.exitCode}`}`,
      );
    case 'notified':
      return { tone: event.level === 'info' ? 'quiet' : event.level, text: event.message };
    case 'server.logged':
      return quiet(`${event.server}: ${event.text}`);
    case 'finding.posted':
      return quiet(`Posted on the board: ${event.title}`);
    case 'acceptance.started':
      return quiet('The work is checked');
    case 'limit.reached':
      return warning(`Limit ${event.limit} reached: ${event.used} of ${event.value}`);
    case 'warning':
      return warning(event.message);
    default:
      return null;
  }
}
