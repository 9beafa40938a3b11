import { errorMessage } from '../../../base/errors.ts';
import { readEnvironment } from '../../../sys/env.ts';
import { readBranch } from '../../../sys/git/branch.ts';
import { readEarlier } from '../model/earlier-entries.ts';
import { searchLog } from '../model/entry-search.ts';
import { rootRow } from '../model/task-tree.ts';
import type { UiEffect } from '../update/step.ts';
import { copyToClipboard } from './clipboard.ts';
import { ConversationEffects } from './conversation-effects.ts';
import type { EffectOptions } from './effect-options.ts';
import { editTypedText, openInEditor } from './external-editor.ts';
import { LandingEffects } from './landing-effects.ts';
import { LogEffects } from './log-effects.ts';
import { readFormerContent, readProposedFile, readTranscript } from './log-reader.ts';
import { writeNote } from './memory-file.ts';
import { RuleEffects } from './rule-effects.ts';
import { editMemory } from './memory-list.ts';
import { changeServer } from './server-effects.ts';
import { SettingEffects } from './settings.ts';
import { showHooks, showStatus } from './page-effects.ts';
import { PickerLists } from './picker-lists.ts';

/** The delay of the search for earlier conversations after the first frame. */
const EARLIER_DELAY_MS = 150;

/** The delay of counting a hint after its key. */
const HINT_DELAY_MS = 50;

/** The effects whose failures are shown as notes, because a hint has no room for the reason. */
const NOTED_FAILURES: ReadonlySet<UiEffect['type']> = new Set([
  'set-model',
  'change-server',
  'export-conversation',
  'show-context',
  'show-board',
  'rewind',
  'show-task-diff',
  'plan-landing',
  'land',
]);

/** Carries out the effects that `update` describes. Their results are dispatched as messages. */
export class EffectRunner {
  private readonly options: EffectOptions;
  private readonly lists: PickerLists;
  private readonly conversations: ConversationEffects;
  private readonly logs: LogEffects;
  private readonly landings: LandingEffects;
  private readonly rules: RuleEffects;
  private readonly settings: SettingEffects;
  /** The timer that cancels the action which a second press of a key would carry out. */
  private expiry: NodeJS.Timeout | undefined;

  constructor(options: EffectOptions) {
    this.options = options;
    const lists = new PickerLists(options);
    this.lists = lists;
    this.conversations = new ConversationEffects({ ...options, lists });
    this.logs = new LogEffects(options);
    this.landings = new LandingEffects(options);
    this.rules = new RuleEffects(options);
    this.settings = new SettingEffects(options);
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
          ? this.conversations.sendToConversation(effect.text)
          : this.conversations.sendToTask(effect.to, effect.text);
      case 'send-command':
        return conversation.send(effect.text);
      case 'continue-conversation':
        return conversation.continueWork();
      case 'skip-servers':
        return conversation.skipServers?.();
      case 'change-server':
        return void changeServer(this.options, effect).catch(fail);
      case 'start-new-conversation':
        return conversation.select(null);
      case 'find-conversation':
        return this.conversations.findConversation(effect.name);
      case 'find-earlier-conversations':
        return void setTimeout(
          () => this.conversations.findEarlier(fail),
          EARLIER_DELAY_MS,
        ).unref();
      case 'load-conversation':
        return this.conversations.loadConversation(effect.id);
      case 'list-conversations':
        return this.conversations.listConversations();
      case 'list-models':
        return void this.lists.listModels();
      case 'list-messages':
        return void this.lists.listMessages(effect.conversation);
      case 'list-history':
        return void this.lists.listHistory();
      case 'list-settings':
        return void this.settings.list().catch(fail);
      case 'change-setting':
        return void this.settings.change(effect);
      case 'show-hooks':
        return void showHooks(this.options).catch(fail);
      case 'show-status':
        return void showStatus(this.options).catch(fail);
      case 'read-preview':
        return void this.lists.readPreview(effect.kind, effect.id);
      case 'set-model':
        return void this.conversations.setModel(effect).catch(fail);
      case 'set-mode':
        return this.conversations.setMode(effect.task, effect.modes);
      case 'list-rules':
        return void this.rules.list(effect).catch(fail);
      case 'change-rules':
        return void this.rules.change(effect).catch(fail);
      case 'remove-rule':
        return void this.rules.remove(effect).catch(fail);
      case 'show-context':
        return void this.logs.showContext(effect.task).catch(fail);
      case 'show-board':
        return void this.logs.showBoard(effect).catch(fail);
      case 'withdraw-messages': {
        const { from } = effect;
        const texts =
          from === null ? conversation.withdraw() : library.withdraw(from).map(({ text }) => text);
        return dispatch({ type: 'messages-withdrawn', texts });
      }
      case 'read-branch':
        return dispatch({ type: 'branch-read', branch: readBranch(library.cwd) });
      case 'read-context-window':
        return void this.logs.readContextWindow(effect.model).catch(fail);
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
        return this.conversations.answer(effect);
      case 'read-entries': {
        const { transcript, key, next } = effect;
        const earlier = this.logs.readLog(transcript, (scan) => readEarlier(transcript, scan, key));
        return dispatch({ type: 'entries-read', task: transcript.task ?? '', earlier, next });
      }
      case 'search-log': {
        const { transcript, pattern, key, by } = effect;
        const matches = this.logs.readLog(transcript, (scan) =>
          searchLog(transcript, scan, pattern),
        );
        return dispatch({ type: 'log-searched', key, matches: matches ?? [], by });
      }
      case 'read-former-content': {
        const { task, callId, hash } = effect;
        const text = readFormerContent(library.store, hash);
        return text === null
          ? undefined
          : dispatch({ type: 'former-content-read', task, callId, text });
      }
      case 'read-proposal': {
        const { question, path } = effect;
        return dispatch({ type: 'proposal-read', question, content: readProposedFile(path) });
      }
      case 'read-full-entry':
        return this.logs.readFullEntry(effect);
      case 'plan-rewind':
        return void this.logs.planRewind(effect).catch(fail);
      case 'rewind':
        return void this.logs.rewind(effect).catch(fail);
      case 'show-task-diff':
        return void this.landings.showDiff(effect.task).catch(fail);
      case 'plan-landing':
        return void this.landings.plan(effect.request).catch(fail);
      case 'land':
        return void this.landings.land(effect.request).catch(fail);
      case 'read-landings':
        return void this.landings.readStates(effect.tasks).catch(fail);
      case 'run-shell':
        return void shell.run(effect.command, effect);
      case 'stop-shell':
        return void shell.stop();
      case 'show-shell':
        return this.logs.showShell(effect);
      case 'stop-background-shell':
        return void library.stopShell(effect.task, effect.shell).catch(fail);
      case 'paste-image':
        return void images.takeClipboard();
      case 'use-theme':
        return surface.useTheme?.(effect.theme);
      case 'copy-text':
        return void this.copy(effect.text).catch(fail);
      case 'export-conversation':
        return void this.logs.exportConversation(effect).catch(fail);
      case 'set-editor-text':
        return surface.setEditorText?.(effect.text);
      case 'page-completions':
        return surface.pageCompletions?.(effect.by);
      case 'remember-input':
        surface.addToHistory?.(effect.text);
        return library.typed.add(effect.text);
      case 'estimate-fan-out':
        // The calls of the fan-out are started first.
        setImmediate(() => this.logs.estimateFanOut(effect)).unref();
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
      case 'list-memory':
        return void this.lists.listMemory().catch(fail);
      case 'edit-memory':
        return void editMemory(surface, effect.path).then(dispatch, fail);
      case 'open-file':
        return void openInEditor(surface, effect).then(dispatch);
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

  /** Shows a conversation from its log. Throws if the log cannot be read. */
  loadConversation(id: string): void {
    this.conversations.loadConversation(id);
  }

  private restart(done: string): void {
    const { library, conversation, state, surface } = this.options;
    const { id } = conversation;
    // A conversation without a log would be lost.
    if (surface.restart === undefined || (id !== null && library.store.logPath(id) === null)) {
      this.note('info', `${done}. This applies when you start Muster again`);
      return;
    }
    const { chosenMode, firstMessage, newRules: rules, tree } = state();
    const typed = surface.editorText?.() ?? '';
    const mode = chosenMode ?? rootRow(tree)?.mode ?? null;
    surface.restart({
      id,
      typed,
      mode,
      model: this.conversations.chosenModel,
      prompt: firstMessage,
      rules,
      done,
    });
  }

  private hint(text: string): void {
    this.options.dispatch({ type: 'hint', text });
  }

  private note(level: 'info' | 'warning', text: string): void {
    this.options.dispatch({ type: 'note', level, text });
  }

  private async copy(text: string): Promise<void> {
    const { surface } = this.options;
    const write = surface.writeSequence?.bind(surface) ?? null;
    this.hint(await copyToClipboard(text, readEnvironment(), write));
  }
}
