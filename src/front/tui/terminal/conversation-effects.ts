import { errorMessage, MusterError } from '../../../base/errors.ts';
import type { QuotedItems } from '../../../api/index.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import type { TaskState } from '../../../protocol/state/task-state.ts';
import { hasEnded } from '../model/task-row.ts';
import { isCutOff } from '../model/task-tree.ts';
import {
  conversationsPage,
  describeEarlier,
  describeUnresolved,
} from '../update/commands/conversations.ts';
import type { EffectOf, EffectOptions } from './effect-options.ts';
import { readConversation, readEarlierTasks, readLeftTask } from './log-reader.ts';
import type { Recipient } from './message-sender.ts';
import type { PickerLists } from './picker-lists.ts';

type ConversationEffectOptions = Pick<
  EffectOptions,
  'library' | 'conversation' | 'sender' | 'state' | 'dispatch'
> & { readonly lists: PickerLists };

const PROMPT_TO_ENDED_TASK =
  'the task has ended, and a slash command or a prompt of a server can be sent only to a task at work';

/** The effects that send to tasks, answer them, and choose the conversation, its model and its mode. */
export class ConversationEffects {
  private readonly options: ConversationEffectOptions;
  /** The model that the user chose in this UI, and the effort, as the argument of `/model`; null for none. */
  chosenModel: string | null = null;

  constructor(options: ConversationEffectOptions) {
    this.options = options;
  }

  sendToConversation(text: string): void {
    const { conversation, sender } = this.options;
    const deliver: Recipient['deliver'] = (...message) => conversation.send(...message);
    sender.send(text, { to: () => conversation.id, deliver });
  }

  /** Sends a message to a task. A task that has ended or is about to end continues with the message. */
  sendToTask(task: string, text: string): void {
    const { library, conversation, sender, state, dispatch } = this.options;
    const deliver = (message: string, enclosed?: QuotedItems): void => {
      const row = state().tree.rows.get(task);
      const isPrompt =
        enclosed?.enclosures.some(({ kind }) => kind === 'prompt' || kind === 'slash_command') ===
        true;
      try {
        if (row !== undefined && hasEnded(row)) {
          if (isPrompt) throw new MusterError('CONFLICT', PROMPT_TO_ENDED_TASK);
          conversation.resumeTask(task, message);
        } else library.send(task, message, enclosed);
      } catch (thrown) {
        if (thrown instanceof MusterError && thrown.code === 'NOT_FOUND' && !isPrompt) {
          conversation.resumeTask(task, message);
          return;
        }
        dispatch({ type: 'send-failed', text: message, reason: errorMessage(thrown) });
      }
    };
    sender.send(text, { to: () => task, deliver });
  }

  findConversation(name: string): void {
    const { store } = this.options.library;
    let id: string;
    try {
      id = store.resolveId(name);
    } catch (thrown) {
      const problem = describeUnresolved(name, thrown);
      if (problem === null) throw thrown;
      this.options.dispatch({ type: 'conversation-missing', problem });
      return;
    }
    const task = store.list().find((each) => each.id === id);
    const { parent = null, root = id } = task ?? {};
    const ownerPid = store.getOwner(id)?.pid ?? null;
    this.options.dispatch({ type: 'conversation-found', found: { id, parent, root, ownerPid } });
  }

  /** Finds the earlier conversations of this directory. `fail` is called with an error of the logs. */
  findEarlier(fail: (thrown: unknown) => void): void {
    const { library, state, dispatch } = this.options;
    const { cwd, store } = library;
    try {
      const earlier = describeEarlier(store.list(), { cwd, now: state().tree.clock.now() });
      if (earlier !== null) dispatch({ type: 'earlier-found', earlier });
    } catch (thrown) {
      fail(thrown);
    }
  }

  /** Shows a conversation from its log. Throws if the log cannot be read. */
  loadConversation(id: string): void {
    const { library, conversation, state, dispatch } = this.options;
    const { isWatched } = conversation;
    const { main, mode } = readConversation(library.store, id, {
      main: state().tree.main,
      isRunning: isWatched,
    });
    dispatch({ type: 'conversation-loaded', id, main });
    // The tasks of a watched conversation are reported one by one.
    if (isWatched) return;
    conversation.select(id, mode);
    if (state().surface === 'lines') {
      // The UI in plain lines reports only tasks at work, so earlier tasks need not be read.
      dispatch({ type: 'task-found', task: readLeftTask(library.store, id), isAsking: false });
      if (isCutOff(state().tree)) {
        this.note('info', 'It was interrupted: send an empty line to continue.');
      }
      return;
    }
    const isWanted = (task: TaskState | null): boolean => {
      const { root, rows } = state().tree;
      return root === id && (task === null || !rows.has(task.spec.id));
    };
    void readEarlierTasks(library.store, id, isWanted, dispatch);
  }

  listConversations(): void {
    const { library, conversation, lists, state, dispatch } = this.options;
    if (state().picker !== null) {
      void lists.listConversations(conversation.id);
      return;
    }
    const now = state().tree.clock.now();
    const { cwd, store } = library;
    const page = conversationsPage(store.list(), { cwd, current: conversation.id, now });
    dispatch({ type: 'page', ...page });
  }

  async setModel({ name, effort }: EffectOf<'set-model'>): Promise<void> {
    const { library, dispatch } = this.options;
    const { provider, id } = library.setModel(await library.findModel(name), effort);
    const chosen = library.mainEffort();
    this.chosenModel = chosen === null ? name : `${name} ${chosen}`;
    const withEffort = chosen === null ? '' : `, effort ${chosen},`;
    dispatch({ type: 'model-set', name: `${provider}/${id}${withEffort}` });
  }

  setMode(task: string, modes: readonly PermissionMode[]): void {
    for (const mode of modes) {
      try {
        this.options.library.setMode(task, mode);
        return;
      } catch (thrown) {
        this.hint(errorMessage(thrown));
        // INVALID_PARAM means that the agent may not have this mode. Then the next mode is tried.
        if (!(thrown instanceof MusterError) || thrown.code !== 'INVALID_PARAM') return;
      }
    }
  }

  answer({ answer, typed }: EffectOf<'answer-question'>): void {
    const { library, dispatch } = this.options;
    try {
      library.answer(answer);
      dispatch({ type: 'answer-accepted', question: answer.question });
    } catch (thrown) {
      dispatch({ type: 'answer-rejected', reason: errorMessage(thrown), typed });
    }
  }

  private hint(text: string): void {
    this.options.dispatch({ type: 'hint', text });
  }

  private note(level: 'info' | 'warning', text: string): void {
    this.options.dispatch({ type: 'note', level, text });
  }
}
