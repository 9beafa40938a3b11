import type { Session } from '../../api/index.ts';
import { QuestionAsker } from './question-asker.ts';
import { ServedTasks } from './served-tasks.ts';

/** A client of the server, or several that share their tasks: the tasks, and the way in which their users are asked. */
export interface ServedClient {
  readonly tasks: ServedTasks;
  readonly asker: QuestionAsker;
}

/** Creates a client without tasks. `areListed`: see `ServedTasks`. */
export function createServedClient(
  session: Session,
  options: { readonly areListed: boolean },
): ServedClient {
  const tasks = new ServedTasks(session, options);
  return { tasks, asker: new QuestionAsker(session, tasks) };
}
