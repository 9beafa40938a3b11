import type { PermissionMode } from '../../../protocol/permission.ts';
import type { Anchor } from '../view/viewport.ts';
import type { Found } from './entry-search.ts';

/** What a person looks at, and what keys are for: nothing of it is in any log. */
export interface Look {
  focus: 'editor' | 'question' | 'tasks' | 'entries';
  /** What is typed: a message, or the answer to a question, or why it is no. */
  writing: Writing;
  /** The question that has the focus, or that is being answered. */
  question: string | null;
  questionScroll: number;
  /** The task that is looked into; null: the conversation. */
  openTask: string | null;
  /** In the tree. */
  chosenTask: string | null;
  /** Null: the end is followed. */
  anchor: Anchor | null;
  /** Whether calls and thoughts show more than a line. */
  isExpanded: boolean;
  /** Keys of entries for which it is the other way around. */
  readonly toggled: Set<number>;
  /** The key of the entry that is unfolded next, while keys are for entries. */
  chosenEntry: number | null;
  search: Search | null;
  /** What the same key does when it is pressed once more. */
  armed: 'leave' | 'stop-tree' | null;
  /** What there is to say for now; gone with the next key. */
  hint: string | null;
  /** The mode that the person has chosen for the next message. */
  chosenMode: PermissionMode | null;
  /** Lines of the tree: it does not shrink while anything is at work. */
  paneHeight: number;
}

export type Writing =
  | { readonly kind: 'message' }
  | { readonly kind: 'reason' | 'answer' | 'plan' | 'search'; readonly draft: string };

/** What a person looks for in a conversation. */
export interface Search {
  readonly typed: string;
  /** Null: nothing to look for was typed. */
  readonly pattern: RegExp | null;
  /** The first one first. */
  readonly found: readonly Found[];
  /** Whether all of the conversation was looked through, and not only what is at hand. */
  readonly isWhole: boolean;
  /** The entry and its line that was gone to; null: none was. */
  readonly here: { readonly key: number; readonly line: number } | null;
}

export function freshLook(): Look {
  return {
    focus: 'editor',
    writing: { kind: 'message' },
    question: null,
    questionScroll: 0,
    openTask: null,
    chosenTask: null,
    anchor: null,
    isExpanded: false,
    toggled: new Set(),
    chosenEntry: null,
    search: null,
    armed: null,
    hint: null,
    chosenMode: null,
    paneHeight: 0,
  };
}
