import type { PermissionMode } from '../../protocol/permission.ts';
import type { Anchor } from './render/viewport.ts';

/** What a person looks at, and what keys are for: nothing of it is in any log. */
export interface Look {
  focus: 'editor' | 'question' | 'tasks';
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
  isExpanded: boolean;
  /** What the same key does when it is pressed once more. */
  armed: 'leave' | 'stop-tree' | null;
  /** What there is to say for now; gone with the next key. */
  hint: string | null;
  /** The mode that the person has chosen with the key, for the next message. */
  chosenMode: PermissionMode | null;
  /** Lines of the tree: it does not shrink while anything is at work. */
  paneHeight: number;
}

export type Writing =
  | { readonly kind: 'message' }
  | { readonly kind: 'reason' | 'answer'; readonly draft: string };

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
    armed: null,
    hint: null,
    chosenMode: null,
    paneHeight: 0,
  };
}
