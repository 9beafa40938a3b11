import { systemClock } from '../../base/clock.ts';
import { flagsText } from '../../report/receipt-rows.ts';
import { formatCount } from '../../report/cost-text.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { formatDuration, collapseWhitespace, plural, truncate } from '../../base/text.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { paidTokens } from '../../protocol/model.ts';
import { countItemTasks } from '../../protocol/template.ts';
import type { LiveTerminal } from './live-block.ts';
import { drawErrorLine, printError } from '../../sys/print.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The minimum time between two drawings of the line. */
const DRAW_MS = 100;
const USUAL_COLUMNS = 80;
const SHOWN_ITEM = 60;

/** Shows the progress of a template run: on a terminal one line that changes, otherwise one line for each item. */
export class ItemProgress {
  private readonly terminal: LiveTerminal;
  private readonly isLive: boolean;
  private readonly startedAt = systemClock.monotonic();
  private root: string | null = null;
  private name = '';
  private total = 0;
  private done = 0;
  private failed = 0;
  private atWork = 0;
  private tokens = 0;
  private drawnAt = -Infinity;
  private isDrawn = false;

  constructor(terminal: LiveTerminal) {
    this.terminal = terminal;
    this.isLive = terminal.isTTY === true;
  }

  /** Adds an event. `state` is the state of the task after the event. */
  add(event: TaskEvent, state: TaskState): void {
    if (state.spec.fanOut !== undefined) this.addRoot(event, state);
    else if (state.spec.parent === this.root && event.type === 'task.ended') this.addEnd(state);
    if (event.type === 'turn.ended' || event.type === 'request.ended')
      this.tokens += paidTokens(event.usage);
    if (this.isLive && systemClock.monotonic() - this.drawnAt >= DRAW_MS) this.draw();
  }

  /** Prints a line that stays, above the changing line. */
  line(text: string): void {
    this.end();
    printError(`${text}\n`, 'prose');
  }

  private addRoot(event: TaskEvent, state: TaskState): void {
    this.atWork = state.openChildren.size;
    if (event.type === 'child.ended') return;
    if (event.type === 'child.created' || event.type === 'child.resumed') return;
    // The run starts or continues. Items that ended before it continued count as well.
    this.root = state.spec.id;
    this.name = state.spec.agent.name;
    const { fanOut } = state.spec;
    this.total = fanOut === undefined ? 0 : countItemTasks(fanOut);
    const ends = [...state.items.values()].map((id) => state.children.get(id)?.status ?? null);
    this.failed = ends.filter((end) => end === 'failed' || end === 'partial').length;
    this.done = ends.filter((end) => end === 'completed').length + this.failed;
  }

  private addEnd(state: TaskState): void {
    const { status, spec, turns, usage, end } = state;
    const isDone = status === 'completed' || status === 'failed' || status === 'partial';
    if (isDone) this.done += 1;
    if (isDone && status !== 'completed') this.failed += 1;
    const warning = flagsText(state.activation.claims);
    if (this.isLive) {
      // The changing line has no room for the warning.
      if (warning !== '') this.line(`! task ${spec.id}: ${warning}`);
      return;
    }
    const reason = end?.error === null || end === null ? '' : `: ${end.error.message}`;
    const details = `task ${spec.id}, ${plural(turns, 'turn')}, ${formatCount(paidTokens(usage))} tokens`;
    const item = truncate(collapseWhitespace(sanitizeLine(spec.description)), SHOWN_ITEM);
    this.line(
      `[${this.done}/${this.total}] ${status}: ${item} (${details})${collapseWhitespace(reason)}`,
    );
    if (warning !== '') this.line(`  ! ${warning}`);
  }

  private draw(): void {
    this.drawnAt = systemClock.monotonic();
    this.isDrawn = true;
    const parts = [
      `${this.name}: ${this.done}/${this.total} done`,
      ...(this.failed === 0 ? [] : [`${this.failed} failed`]),
      `${this.atWork} at work`,
      `${formatCount(this.tokens)} tokens`,
      formatDuration(this.drawnAt - this.startedAt),
    ];
    const text = collapseWhitespace(sanitizeLine(parts.join(', ')));
    const width = (this.terminal.columns ?? USUAL_COLUMNS) - 1;
    drawErrorLine(truncate(text, width));
  }

  /** Removes the changing line from the terminal. A second call has no effect. */
  end(): void {
    if (!this.isDrawn) return;
    this.isDrawn = false;
    drawErrorLine('');
  }
}
