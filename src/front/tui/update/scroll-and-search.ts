import type { Muster } from '../../../api/index.ts';
import { errorMessage } from '../../../base/errors.ts';
import type { Answering, TypedText } from './question-controller.ts';
import type { Look } from '../model/view-state.ts';
import { isFoldable } from '../view/block-lines.ts';
import { isUnfolded } from '../view/conversation-parts.ts';
import { matchedLines } from '../view/search-marks.ts';
import {
  broughtInSight,
  inSight,
  linesOf,
  scrolled,
  viewAt,
  type Parts,
} from '../view/viewport.ts';
import { gapOf, olderThan, readEarlier, type ScanLog } from '../model/earlier-entries.ts';
import { findAtHand, findInAll, type Found, searchPattern } from '../model/entry-search.ts';
import type { Transcript } from '../model/transcript.ts';
import { shownTranscript, type UiState } from '../model/task-tree.ts';

interface BrowsingParts {
  readonly muster: Pick<Muster, 'store'>;
  readonly ui: UiState;
  readonly look: Look;
  readonly editor: TypedText;
  readonly answering: Pick<Answering, 'leave'>;
  /** What is looked at, as it is drawn, and in how many lines. */
  readonly shown: () => { readonly parts: Parts; readonly height: number };
}

/** Going through a conversation: scrolling, unfolding, searching. What was dropped is read from the log again. */
export class Browsing {
  private readonly parts: BrowsingParts;
  /** Of the last search through all, so that each step does not read the log again. */
  private searched: { readonly of: string; readonly found: readonly Found[] } | null = null;

  constructor(parts: BrowsingParts) {
    this.parts = parts;
  }

  scroll(by: number): void {
    const { look, shown } = this.parts;
    this.reach(by);
    const { parts, height } = shown();
    look.anchor = scrolled(parts, look.anchor, { by, height });
    if (look.anchor === null) this.toEnd();
  }

  toEnd(): void {
    this.parts.look.anchor = null;
    this.transcript.earlier = null;
  }

  /** From its beginning, where it does not fit: then the end is not followed. */
  showFrom(key: number): void {
    const { parts, height } = this.parts.shown();
    const line = linesOf(parts, key)[0] === '' ? 1 : 0;
    this.parts.look.anchor = viewAt(parts, { key, line }, height).anchor;
  }

  /** Another conversation is looked at. */
  forget(): void {
    const { look } = this.parts;
    if (look.writing.kind === 'search') this.endSearch();
    this.toEnd();
    look.toggled.clear();
    look.chosenEntry = null;
    if (look.focus === 'entries') look.focus = 'editor';
  }

  /** Turns keys to what can be unfolded: the last one in sight. */
  focusEntries(): void {
    const { look, answering, shown } = this.parts;
    const { parts, height } = shown();
    const sight = inSight(parts, look.anchor, height);
    const end = sight === null ? Infinity : parts.part(sight.last).key;
    const keys = this.foldable();
    const chosen = keys.findLast((key) => key <= end) ?? keys[0];
    if (chosen === undefined) {
      look.hint = 'there is nothing to unfold yet';
      return;
    }
    answering.leave();
    look.focus = 'entries';
    this.choose(chosen);
  }

  chooseEntry(by: 1 | -1): void {
    const { chosenEntry } = this.parts.look;
    if (chosenEntry === null) return;
    this.reach(by);
    const keys = this.foldable();
    const next =
      by < 0 ? keys.findLast((key) => key < chosenEntry) : keys.find((key) => key > chosenEntry);
    if (next !== undefined) this.choose(next);
  }

  toggleEntry(): void {
    const { look } = this.parts;
    if (look.chosenEntry !== null) this.toggle(look.chosenEntry);
  }

  leaveEntries(): void {
    const { look } = this.parts;
    look.focus = 'editor';
    look.chosenEntry = null;
  }

  startSearch(): void {
    const { look, answering, editor } = this.parts;
    if (look.writing.kind === 'search') return;
    answering.leave();
    look.chosenEntry = null;
    look.writing = { kind: 'search', draft: editor.getText() };
    editor.setText('');
    this.lookFor('');
  }

  /** What is typed has changed. While it is typed, only what is at hand is looked through. */
  lookFor(typed: string): void {
    const { look } = this.parts;
    if (look.writing.kind !== 'search' || look.search?.typed === typed) return;
    const pattern = searchPattern(typed);
    const found = pattern === null ? [] : findAtHand(this.transcript, pattern);
    const isWhole = this.transcript.dropped === 0;
    look.search = { typed, pattern, found, isWhole, here: null };
  }

  /** To the next place where it stands, and from the last one to the first. */
  step(by: 1 | -1): void {
    const { look, shown } = this.parts;
    const { search } = look;
    if (search === null || search.pattern === null) return;
    const found = this.findAll(search.pattern);
    look.search = { ...search, found, isWhole: true };
    const { here, pattern } = search;
    const { parts, height } = shown();
    if (here !== null) {
      const lines = matchedLines(linesOf(parts, here.key), search.pattern);
      const isBehind = (line: number) => (by > 0 ? line > here.line : line < here.line);
      const line = by > 0 ? lines.find(isBehind) : lines.findLast(isBehind);
      if (line !== undefined) {
        this.goTo(here.key, line);
        return;
      }
    }
    const sight = inSight(parts, look.anchor, height);
    const from = here?.key ?? (sight === null ? -1 : parts.part(sight.first).key - by / 4);
    const isNext = ({ key }: Found) => (by > 0 ? key > from : key < from);
    const next =
      by > 0 ? (found.find(isNext) ?? found[0]) : (found.findLast(isNext) ?? found.at(-1));
    if (next === undefined) return;
    this.readAround(next.key);
    // Drawn unfolded from here on.
    look.search = { ...look.search, here: { key: next.key, line: 0 } };
    const lines = matchedLines(linesOf(shown().parts, next.key), pattern);
    this.goTo(next.key, (by > 0 ? lines[0] : lines.at(-1)) ?? 0);
  }

  /** What was found last stays in sight, and unfolded. */
  endSearch(): void {
    const { look, editor } = this.parts;
    if (look.writing.kind !== 'search') return;
    const { draft } = look.writing;
    const key = look.search?.here?.key;
    look.writing = { kind: 'message' };
    look.search = null;
    editor.setText(draft);
    if (key !== undefined && !isUnfolded(key, { ...look, search: null })) this.toggle(key);
  }

  private toggle(key: number): void {
    const { toggled } = this.parts.look;
    if (!toggled.delete(key)) toggled.add(key);
  }

  private goTo(key: number, line: number): void {
    const { look, shown } = this.parts;
    if (look.search !== null) look.search = { ...look.search, here: { key, line } };
    const { parts, height } = shown();
    look.anchor = broughtInSight(parts, look.anchor, { to: { key, line }, height });
  }

  private choose(key: number): void {
    const { look, shown } = this.parts;
    look.chosenEntry = key;
    const { parts, height } = shown();
    look.anchor = broughtInSight(parts, look.anchor, { to: { key, line: 0 }, height });
  }

  /** Keys of what can be unfolded, of all that is at hand. */
  private foldable(): readonly number[] {
    const { earlier, blocks } = this.transcript;
    return [...(earlier?.blocks ?? []), ...blocks].filter(isFoldable).map(({ key }) => key);
  }

  private findAll(pattern: RegExp): readonly Found[] {
    const { transcript } = this;
    if (transcript.dropped === 0) return findAtHand(transcript, pattern);
    const of = `${transcript.task} ${transcript.lastSeq} ${pattern.source}`;
    if (this.searched?.of !== of) {
      const found = this.read((scan) => findInAll(transcript, scan, pattern)) ?? [];
      this.searched = { of, found };
    }
    return this.searched.found;
  }

  private readAround(key: number): void {
    const { transcript } = this;
    const { earlier, blocks } = transcript;
    if ([...(earlier?.blocks ?? []), ...blocks].some((block) => block.key === key)) return;
    const around = this.read((scan) => readEarlier(transcript, scan, key));
    if (around !== null) transcript.earlier = around;
  }

  /** Reads again what comes into sight next, where it is not at hand. */
  private reach(by: number): void {
    const { look, shown } = this.parts;
    const { transcript } = this;
    const older = olderThan(transcript);
    const gap = gapOf(transcript);
    if (older === 0 && gap === 0) return;
    const { parts, height } = shown();
    const sight = inSight(parts, look.anchor, height);
    if (sight === null) return;
    const near = height + Math.abs(by);
    // What stands between those that were read and those that were kept.
    const between = (transcript.earlier?.blocks.length ?? 0) + 1;
    const isAtTop = older > 0 && by < 0 && sight.first <= near;
    const isAtGap =
      gap > 0 &&
      (by < 0
        ? sight.first > between && sight.first - between <= near
        : sight.last >= between - near && sight.first <= between);
    if (!isAtTop && !isAtGap) return;
    const own = Math.max(sight.first, 1) === between ? between + 1 : Math.max(sight.first, 1);
    const { key } = parts.part(own);
    // A line that only counts is another one afterwards.
    if (look.anchor !== null && own !== sight.first) look.anchor = { key, line: 0 };
    const around = this.read((scan) => readEarlier(transcript, scan, key));
    if (around !== null) transcript.earlier = around;
  }

  /** Null: it can't be read, which is said. */
  private read<T>(read: (scan: ScanLog) => T): T | null {
    const { muster, look } = this.parts;
    const { task } = this.transcript;
    if (task === null) return null;
    try {
      return read((visit) => void muster.store.scan(task, visit));
    } catch (thrown) {
      look.hint = errorMessage(thrown);
      return null;
    }
  }

  private get transcript(): Transcript {
    return shownTranscript(this.parts.ui, this.parts.look.openTask);
  }
}
