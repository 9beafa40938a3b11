import type { Keybinding } from '@earendil-works/pi-tui';
import type { Action } from '../keys/bindings.ts';

/** What the library's editor does, by its names, and our name for it. */
export const LIBRARY_NAMES: Readonly<Partial<Record<Keybinding, Action>>> = {
  'tui.input.submit': 'send',
  'tui.input.newLine': 'new-line',
  'tui.input.tab': 'complete',
  'tui.editor.cursorUp': 'cursor-up',
  'tui.editor.cursorDown': 'cursor-down',
  'tui.editor.cursorLeft': 'cursor-left',
  'tui.editor.cursorRight': 'cursor-right',
  'tui.editor.cursorWordLeft': 'word-left',
  'tui.editor.cursorWordRight': 'word-right',
  'tui.editor.cursorLineStart': 'line-start',
  'tui.editor.cursorLineEnd': 'line-end',
  'tui.editor.jumpForward': 'jump-forward',
  'tui.editor.jumpBackward': 'jump-backward',
  'tui.editor.deleteCharBackward': 'delete-back',
  'tui.editor.deleteCharForward': 'delete-forward',
  'tui.editor.deleteWordBackward': 'delete-word-back',
  'tui.editor.deleteWordForward': 'delete-word-forward',
  'tui.editor.deleteToLineStart': 'delete-to-start',
  'tui.editor.deleteToLineEnd': 'delete-to-end',
  'tui.editor.yank': 'yank',
  'tui.editor.yankPop': 'yank-pop',
  'tui.editor.undo': 'undo-typing',
  'tui.editor.historyPrevious': 'history-previous',
  'tui.editor.historyNext': 'history-next',
  'tui.select.up': 'completion-up',
  'tui.select.down': 'completion-down',
  'tui.select.confirm': 'completion-take',
  'tui.select.cancel': 'completion-close',
};
