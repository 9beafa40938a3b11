import { errorMessage, MusterError } from '../../../base/errors.ts';
import { plural } from '../../../base/text.ts';
import { contextLines, loadStoredTasks } from '../../../api/index.ts';
import { findFinding } from '../../../protocol/board.ts';
import { boardLines, findingLines } from '../../../report/board-lines.ts';
import {
  estimateFanOut,
  formatEstimate,
  type PlannedFanOut,
} from '../../../report/fan-out-estimate.ts';
import { toAbsolutePath } from '../../../sys/files/paths.ts';
import type { ScanLog } from '../model/earlier-entries.ts';
import { fullEntry } from '../model/full-entry.ts';
import { outputSection } from '../model/pager.ts';
import type { Transcript } from '../model/transcript.ts';
import type { EffectOf, EffectOptions } from './effect-options.ts';
import { writeConversation } from './export-conversation.ts';
import { readPrompts, readSpill, readTaskFile } from './log-reader.ts';

/** The maximum time of a listing of all logs for an estimate, in milliseconds. It blocks the screen. */
const MAX_LISTING_MS = 100;

/** The maximum number of lines of an output that a page shows. */
const MAX_SHELL_LINES = 40;

const BOARD_HELP = '/board ID shows the text of one';

type LogEffectOptions = Pick<EffectOptions, 'library' | 'shell' | 'state' | 'dispatch'>;

/** The effects that read the logs, undo work, and report about a conversation. */
export class LogEffects {
  private readonly options: LogEffectOptions;
  /** Whether a listing of the logs has taken longer than `MAX_LISTING_MS`. */
  private isListingSlow = false;

  constructor(options: LogEffectOptions) {
    this.options = options;
  }

  async exportConversation({
    task,
    file,
    withTasks,
  }: EffectOf<'export-conversation'>): Promise<void> {
    const { cwd, store } = this.options.library;
    const path = toAbsolutePath(file, cwd);
    const { bytes, tasks } = await writeConversation(store, { task, path, withTasks });
    const written = withTasks && tasks > 0 ? ` with ${plural(tasks, 'task')}` : '';
    const left =
      withTasks || tasks === 0
        ? ''
        : `, without the conversations of ${plural(tasks, 'task')}: /export --all writes them, too`;
    this.note('info', `the conversation${written} is in ${path} (${plural(bytes, 'byte')})${left}`);
  }

  async readContextWindow(model: string): Promise<void> {
    const tokens = await this.options.library.contextWindow(model);
    this.options.dispatch({ type: 'context-window-read', model, tokens });
  }

  async showContext(task: string): Promise<void> {
    const lines = contextLines(await this.options.library.contextOf(task));
    this.options.dispatch({ type: 'page', title: 'Context', lines });
  }

  async showBoard({ task, finding }: EffectOf<'show-board'>): Promise<void> {
    const { library, dispatch } = this.options;
    const { readTaskBoard } = await loadStoredTasks();
    const board = readTaskBoard(library.store, task);
    if (finding !== null) {
      const found = findFinding(board, finding);
      if (found instanceof MusterError) throw found;
      const [title = '', ...lines] = findingLines(found);
      dispatch({ type: 'page', title, lines });
      return;
    }
    const lines = [...boardLines(board), board.length === 0 ? 'none yet' : BOARD_HELP];
    dispatch({ type: 'page', title: `Board: ${plural(board.length, 'finding')}`, lines });
  }

  /** Reads the log of a transcript. If the log can't be read, shows a hint and returns null. */
  readLog<Result>({ task }: Transcript, read: (scan: ScanLog) => Result): Result | null {
    if (task === null) return null;
    try {
      return read((visit) => void this.options.library.store.scan(task, visit));
    } catch (thrown) {
      this.hint(errorMessage(thrown));
      return null;
    }
  }

  readFullEntry({ transcript, entry }: EffectOf<'read-full-entry'>): void {
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

  /** Shows the output of a background shell: the newest part if there is very much of it. */
  showShell({ shell, task, command, path }: EffectOf<'show-shell'>): void {
    const { library, state, dispatch } = this.options;
    const output = readTaskFile(library.store, task, path);
    const title = `Shell ${shell.slice(0, 8)}`;
    if (state().surface === 'lines') {
      const lines = output.trimEnd().split('\n').slice(-MAX_SHELL_LINES);
      dispatch({ type: 'page', title: `${title}: ${command}`, lines });
      return;
    }
    const sections = [{ kind: 'heading', text: command } as const, outputSection(output)];
    dispatch({ type: 'pager-opened', document: { title, sections } });
  }

  /** Shows an estimate. Nothing is estimated any more once a listing of the logs has taken long. */
  estimateFanOut(fanOut: PlannedFanOut): void {
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

  async planRewind(effect: EffectOf<'plan-rewind'>): Promise<void> {
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

  async rewind({ plan, prompt }: EffectOf<'rewind'>): Promise<void> {
    const { plan: done, left } = await this.options.library.rewind(plan);
    const skipped = left.map(({ path, because }) => `${path}: ${because}`);
    const files = done.files.length - left.length;
    this.options.dispatch({ type: 'rewound', files, skipped, prompt, only: done.only });
  }

  private hint(text: string): void {
    this.options.dispatch({ type: 'hint', text });
  }

  private note(level: 'info' | 'warning', text: string): void {
    this.options.dispatch({ type: 'note', level, text });
  }
}
