import { errorMessage, MusterError } from '../../../base/errors.ts';
import { plural } from '../../../base/text.ts';
import type { PermissionMode } from '../../../protocol/permission.ts';
import type { ThemeChoice } from '../../../protocol/terminal-settings.ts';
import { readEnvironment } from '../../../sys/env.ts';
import { toAbsolutePath } from '../../../sys/files/paths.ts';
import { readBranch } from '../../../sys/git/branch.ts';
import type { AppState } from '../model/app-state.ts';
import type { TaskState } from '../../../protocol/state/task-state.ts';
import { readEarlier, type ScanLog } from '../model/earlier-entries.ts';
import { fullEntry } from '../model/full-entry.ts';
import type { KeptUi } from '../model/kept-ui.ts';
import { searchLog } from '../model/entry-search.ts';
import { isCutOff, rootRow } from '../model/task-tree.ts';
import { hasEnded } from '../model/task-row.ts';
import {
  estimateFanOut,
  formatEstimate,
  type PlannedFanOut,
} from '../../../report/fan-out-estimate.ts';
import type { Transcript } from '../model/transcript.ts';
import type { UiLibrary } from '../model/ui-library.ts';
import { conversationsPage } from '../update/commands/conversations.ts';
import type { UiEffect } from '../update/step.ts';
import type { Direction, UiMessage } from '../update/message.ts';
import { copyToClipboard } from './clipboard.ts';
import type { ConversationPort } from './conversation-runner.ts';
import { writeConversation } from './export-conversation.ts';
import {
  readConversation,
  readEarlierTasks,
  readFormerContent,
  readLeftTask,
  readPrompts,
  readSpill,
  readTranscript,
} from './log-reader.ts';
import { PickerLists } from './picker-lists.ts';
import { editTypedText, type EditorSurface } from './external-editor.ts';
import { writeNote } from './memory-file.ts';
import type { MessageSender, Recipient } from './message-sender.ts';
import type { PastedImages } from './pasted-images.ts';
import type { SetupDialogs } from './setup-dialogs.ts';
import type { ShellCommands } from './shell-commands.ts';
import { contextLines, type QuotedItems } from '../../../api/index.ts';

/** The part of the screen that effects use. The UI in plain lines has no editor, so that some methods are missing there. */
export interface Surface extends EditorSurface {
  setEditorText?(text: string): void;
  addToHistory?(text: string): void;
  pageCompletions?(by: Direction): void;
  redraw?(): void;
  /** Uses other colors. Absent if there are no colors. */
  useTheme?(choice: ThemeChoice): void;
  /** Writes an escape sequence that shows nothing. */
  writeSequence?(sequence: string): void;
  suspend?(): void;
  /** Opens Muster again with this conversation. */
  restart?(kept: KeptUi): void;
  /** Notifies a user who looks at another window. */
  callAttention(text: string): void;
  leave(): void;
}

type EffectOf<Type extends UiEffect['type']> = Extract<UiEffect, { type: Type }>;

export interface EffectRunnerOptions {
  readonly library: UiLibrary;
  readonly conversation: ConversationPort;
  readonly sender: MessageSender;
  readonly shell: ShellCommands;
  readonly images: Pick<PastedImages, 'takeClipboard'>;
  readonly surface: Surface;
  /** The dialogs of the user's setup; null if it cannot be changed here. */
  readonly dialogs: SetupDialogs | null;
  readonly state: () => AppState;
  readonly dispatch: (message: UiMessage) => void;
}

/** The delay of counting a hint after its key. */
const HINT_DELAY_MS = 50;

/** The effects whose failures are shown as notes, because a hint has no room for the reason. */
const NOTED_FAILURES: ReadonlySet<UiEffect['type']> = new Set([
  'set-model',
  'export-conversation',
  'show-context',
  'rewind',
]);

/** The maximum time of a listing of all logs for an estimate, in milliseconds. It blocks the screen. */
const MAX_LISTING_MS = 100;

/** Carries out the effects that `update` describes. Their results are dispatched as messages. */
export class EffectRunner {
  private readonly options: EffectRunnerOptions;
  private readonly lists: PickerLists;
  /** Whether a listing of the logs has taken longer than `MAX_LISTING_MS`. */
  private isListingSlow = false;
  /** The timer that cancels the action which a second press of a key would carry out. */
  private expiry: NodeJS.Timeout | undefined;
  /** The model that the user chose in this UI; null for none. */
  private chosenModel: string | null = null;

  constructor(options: EffectRunnerOptions) {
    this.options = options;
    this.lists = new PickerLists(options);
  }

  /** Carries out an effect. Never throws: an error becomes a note or a hint. */
  run(effect: UiEffect): void {
    const fail = (thrown: unknown): void => {
      const text = errorMessage(thrown);
      if (NOTED_FAILURES.has(effect.type)) this.note('warning', text);
      else this.hint(text);
    };
    try {
      this.perform(effect, fail);
    } catch (thrown) {
      fail(thrown);
    }
  }

  private perform(effect: UiEffect, fail: (thrown: unknown) => void): void {
    const { library, conversation, shell, images, surface, dialogs, dispatch } = this.options;
    switch (effect.type) {
      case 'dispatch':
        return dispatch(effect.message);
      case 'dispatch-later':
        return void setTimeout(() => dispatch(effect.message), effect.ms).unref();
      case 'send-message':
        return effect.to === null
          ? this.sendToConversation(effect.text)
          : this.sendToTask(effect.to, effect.text);
      case 'send-command':
        return conversation.send(effect.text);
      case 'continue-conversation':
        return conversation.continueWork();
      case 'start-new-conversation':
        return conversation.select(null);
      case 'find-conversation':
        return this.findConversation(effect.name);
      case 'load-conversation':
        return this.loadConversation(effect.id);
      case 'list-conversations':
        return this.listConversations();
      case 'list-models':
        return void this.lists.listModels();
      case 'list-messages':
        return void this.lists.listMessages(effect.conversation);
      case 'list-history':
        return void this.lists.listHistory();
      case 'read-preview':
        return void this.lists.readPreview(effect.kind, effect.id);
      case 'set-model':
        return void this.setModel(effect.name).catch(fail);
      case 'set-mode':
        return this.setMode(effect.task, effect.modes);
      case 'show-context':
        return void this.showContext(effect.task).catch(fail);
      case 'withdraw-messages': {
        const { from } = effect;
        const texts =
          from === null ? conversation.withdraw() : library.withdraw(from).map(({ text }) => text);
        return dispatch({ type: 'messages-withdrawn', texts });
      }
      case 'read-branch':
        return dispatch({ type: 'branch-read', branch: readBranch(library.cwd) });
      case 'read-context-window':
        return void this.readContextWindow(effect.model).catch(fail);
      case 'count-hint':
        // The file is written after the next frame, so that the key shows at once.
        return void setTimeout(() => library.hintUses.add(effect.hint), HINT_DELAY_MS).unref();
      case 'interrupt-task':
        return library.interrupt(effect.task);
      case 'stop-task':
        return void library.stopTask(effect.task, 'the user stopped it');
      case 'resume-task':
        return conversation.resumeTask(effect.task, null);
      case 'move-to-background':
        for (const task of effect.tasks) library.background(task);
        return undefined;
      case 'open-task': {
        const { task } = effect;
        const transcript = readTranscript(library.store, task);
        return dispatch({ type: 'task-opened', task, transcript });
      }
      case 'answer-question':
        return this.answer(effect);
      case 'read-entries': {
        const { transcript, key, next } = effect;
        const earlier = this.readLog(transcript, (scan) => readEarlier(transcript, scan, key));
        return dispatch({ type: 'entries-read', task: transcript.task ?? '', earlier, next });
      }
      case 'search-log': {
        const { transcript, pattern, key, by } = effect;
        const matches = this.readLog(transcript, (scan) => searchLog(transcript, scan, pattern));
        return dispatch({ type: 'log-searched', key, matches: matches ?? [], by });
      }
      case 'read-former-content': {
        const { task, callId, hash } = effect;
        const text = readFormerContent(library.store, hash);
        return text === null
          ? undefined
          : dispatch({ type: 'former-content-read', task, callId, text });
      }
      case 'read-full-entry':
        return this.readFullEntry(effect);
      case 'plan-rewind':
        return void this.planRewind(effect).catch(fail);
      case 'rewind':
        return void this.rewind(effect).catch(fail);
      case 'run-shell':
        return void shell.run(effect.command, effect);
      case 'stop-shell':
        return void shell.stop();
      case 'paste-image':
        return void images.takeClipboard();
      case 'use-theme':
        return surface.useTheme?.(effect.theme);
      case 'copy-text':
        return void this.copy(effect.text).catch(fail);
      case 'export-conversation':
        return this.exportConversation(effect);
      case 'set-editor-text':
        return surface.setEditorText?.(effect.text);
      case 'page-completions':
        return surface.pageCompletions?.(effect.by);
      case 'remember-input':
        surface.addToHistory?.(effect.text);
        return library.typed.add(effect.text);
      case 'estimate-fan-out':
        // The calls of the fan-out are started first.
        setImmediate(() => this.estimateFanOut(effect)).unref();
        return undefined;
      case 'expire-armed':
        clearTimeout(this.expiry);
        this.expiry = setTimeout(() => dispatch({ type: 'armed-expired' }), effect.ms);
        this.expiry.unref();
        return undefined;
      case 'call-attention':
        return surface.callAttention(effect.text);
      case 'open-dialog':
        return void dialogs?.open(effect.subject, effect.argument);
      case 'answer-dialog':
        return void dialogs?.answer(effect.subject, effect.answer);
      case 'cancel-dialog':
        return dialogs?.cancel();
      case 'write-note':
        return void writeNote(effect, library.cwd).then((done) => this.note('info', done), fail);
      case 'restart':
        return this.restart(effect.done);
      case 'edit-text':
        return void editTypedText(surface, effect.text, this.options.state().writing.kind).then(
          dispatch,
        );
      case 'redraw':
        return surface.redraw?.();
      case 'suspend':
        return surface.suspend?.();
      case 'leave':
        return surface.leave();
      default:
        return effect satisfies never;
    }
  }

  private restart(done: string): void {
    const { library, conversation, state, surface } = this.options;
    const { id } = conversation;
    // A conversation without a log would be lost.
    if (surface.restart === undefined || (id !== null && library.store.logPath(id) === null)) {
      this.note('info', `${done}. This applies when you start Muster again`);
      return;
    }
    const { chosenMode, firstMessage, tree } = state();
    const typed = surface.editorText?.() ?? '';
    const mode = chosenMode ?? rootRow(tree)?.mode ?? null;
    surface.restart({ id, typed, mode, model: this.chosenModel, prompt: firstMessage, done });
  }

  private hint(text: string): void {
    this.options.dispatch({ type: 'hint', text });
  }

  private note(level: 'info' | 'warning', text: string): void {
    this.options.dispatch({ type: 'note', level, text });
  }

  private sendToConversation(text: string): void {
    const { conversation, sender } = this.options;
    const deliver: Recipient['deliver'] = (...message) => conversation.send(...message);
    sender.send(text, { to: () => conversation.id, deliver });
  }

  /** Sends a message to a task. A task that has ended or is about to end continues with the message. */
  private sendToTask(task: string, text: string): void {
    const { library, conversation, sender, state, dispatch } = this.options;
    const deliver = (message: string, enclosed?: QuotedItems): void => {
      const row = state().tree.rows.get(task);
      try {
        if (row !== undefined && hasEnded(row)) conversation.resumeTask(task, message);
        else library.send(task, message, enclosed);
      } catch (thrown) {
        if (thrown instanceof MusterError && thrown.code === 'NOT_FOUND') {
          conversation.resumeTask(task, message);
          return;
        }
        dispatch({ type: 'send-failed', text: message, reason: errorMessage(thrown) });
      }
    };
    sender.send(text, { to: () => task, deliver });
  }

  private findConversation(name: string): void {
    const { store } = this.options.library;
    const id = store.resolveId(name);
    const task = store.list().find((each) => each.id === id);
    const { parent = null, root = id } = task ?? {};
    const ownerPid = store.getOwner(id)?.pid ?? null;
    this.options.dispatch({ type: 'conversation-found', found: { id, parent, root, ownerPid } });
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

  private listConversations(): void {
    const { library, conversation, state, dispatch } = this.options;
    if (state().picker !== null) {
      void this.lists.listConversations(conversation.id);
      return;
    }
    const now = state().tree.clock.now();
    const { cwd, store } = library;
    const page = conversationsPage(store.list(), { cwd, current: conversation.id, now });
    dispatch({ type: 'page', ...page });
  }

  private async setModel(name: string): Promise<void> {
    const { library, dispatch } = this.options;
    const { provider, id } = library.setModel(await library.findModel(name));
    dispatch({ type: 'model-set', name: `${provider}/${id}` });
  }

  private setMode(task: string, modes: readonly PermissionMode[]): void {
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

  private async copy(text: string): Promise<void> {
    const { surface } = this.options;
    const write = surface.writeSequence?.bind(surface) ?? null;
    this.hint(await copyToClipboard(text, readEnvironment(), write));
  }

  private exportConversation({ task, file }: EffectOf<'export-conversation'>): void {
    const { cwd, store } = this.options.library;
    const path = toAbsolutePath(file, cwd);
    const bytes = writeConversation(store, task, path);
    this.note('info', `the conversation is in ${path} (${plural(bytes, 'byte')})`);
  }

  private async readContextWindow(model: string): Promise<void> {
    const tokens = await this.options.library.contextWindow(model);
    this.options.dispatch({ type: 'context-window-read', model, tokens });
  }

  private async showContext(task: string): Promise<void> {
    const lines = contextLines(await this.options.library.contextOf(task));
    this.options.dispatch({ type: 'page', title: 'Context', lines });
  }

  private answer({ answer, typed }: EffectOf<'answer-question'>): void {
    const { library, dispatch } = this.options;
    try {
      library.answer(answer);
      dispatch({ type: 'answer-accepted', question: answer.question });
    } catch (thrown) {
      dispatch({ type: 'answer-rejected', reason: errorMessage(thrown), typed });
    }
  }

  /** Reads the log of a transcript. If the log can't be read, shows a hint and returns null. */
  private readLog<Result>({ task }: Transcript, read: (scan: ScanLog) => Result): Result | null {
    if (task === null) return null;
    try {
      return read((visit) => void this.options.library.store.scan(task, visit));
    } catch (thrown) {
      this.hint(errorMessage(thrown));
      return null;
    }
  }

  private readFullEntry({ transcript, entry }: EffectOf<'read-full-entry'>): void {
    const { library, shell, dispatch } = this.options;
    const { store } = library;
    const { task } = transcript;
    const document = fullEntry(entry, transcript, {
      scan: (visit) => void (task === null || store.scan(task, visit)),
      readBackup: (hash) => store.getBackup(hash)?.toString('utf8') ?? null,
      readSpilled: (result) => (task === null ? null : readSpill(store, task, result)),
      readShellOutput: (key) => shell.fullOutput(key),
    });
    dispatch({ type: 'pager-opened', document });
  }

  /** Shows an estimate. Nothing is estimated any more once a listing of the logs has taken long. */
  private estimateFanOut(fanOut: PlannedFanOut): void {
    if (this.isListingSlow) return;
    const { store } = this.options.library;
    const { clock } = this.options.state().tree;
    const begun = clock.monotonic();
    try {
      const estimate = estimateFanOut(store.list(), fanOut);
      if (estimate !== null) this.note('info', formatEstimate(fanOut, estimate));
    } catch (thrown) {
      this.hint(errorMessage(thrown));
    }
    this.isListingSlow = clock.monotonic() - begun > MAX_LISTING_MS;
  }

  private async planRewind(effect: EffectOf<'plan-rewind'>): Promise<void> {
    const { library, dispatch } = this.options;
    const { conversation, isRedo, back, only } = effect;
    const prompt =
      isRedo || effect.prompt !== null
        ? effect.prompt
        : (readPrompts(library.store, conversation).at(-back) ?? null);
    if (!isRedo && prompt === null) {
      this.hint('there are fewer messages in this conversation');
      return;
    }
    // Without an event before the message, everything is undone up to event 0, and the user can type the message again.
    const target =
      prompt === null ? 'undo' : { to: prompt.before ?? 0, ...(only === null ? {} : { only }) };
    const plan = await library.planRewind(conversation, target);
    dispatch({ type: 'rewind-planned', plan, prompt });
  }

  private async rewind({ plan, prompt }: EffectOf<'rewind'>): Promise<void> {
    const { plan: done, left } = await this.options.library.rewind(plan);
    const skipped = left.map(({ path, because }) => `${path}: ${because}`);
    const files = done.files.length - left.length;
    this.options.dispatch({ type: 'rewound', files, skipped, prompt, only: done.only });
  }
}
