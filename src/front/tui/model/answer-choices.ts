import { offeredRules } from '../../../protocol/question.ts';
import { canAcceptAsShown, listFewOptions } from '../../../report/server-question.ts';
import type { Bindings, OwnAction } from './key-bindings.ts';
import { keysOf } from './key-names.ts';
import type { PendingQuestion } from './task-tree.ts';

/** The actions that choose one of the options of a question of AskUser. */
export const OPTION_ACTIONS = [
  'option-1',
  'option-2',
  'option-3',
  'option-4',
] as const satisfies readonly OwnAction[];

/**
 * Lists the actions that answer a question, in the order in which its box shows their keys, without those that have no
 * key. `hasSimilar` says whether other questions may get the same answer.
 */
export function answerChoices(
  question: PendingQuestion,
  { hasSimilar, bindings }: { readonly hasSimilar: boolean; readonly bindings: Bindings },
): readonly OwnAction[] {
  return allChoices(question, hasSimilar).filter((action) => keysOf(bindings, action).length > 0);
}

function allChoices(question: PendingQuestion, hasSimilar: boolean): readonly OwnAction[] {
  switch (question.kind) {
    case 'confirm':
      return ['answer-once', 'answer-no'];
    case 'plan':
      return ['answer-once', 'answer-always', 'answer-edit', 'answer-no', 'answer-reason'];
    case 'input':
      return [...OPTION_ACTIONS.slice(0, question.options.length), 'answer-text'];
    case 'permission': {
      const { offersEdits, scopes, modeToGrant } = question;
      const hasRules = offeredRules(question).length > 0;
      const all: readonly (readonly [OwnAction, boolean])[] = [
        ['answer-once', true],
        ['answer-no', true],
        ['answer-reason', true],
        ['cycle-mode', offersEdits === true],
        ['answer-similar', hasSimilar],
        ['answer-always', hasRules],
        ['answer-project', hasRules && scopes.includes('project')],
        ['answer-mode', modeToGrant !== undefined],
        ['answer-mode-user', modeToGrant?.scopes.includes('user') === true],
      ];
      return all.flatMap(([action, isOffered]) => (isOffered ? [action] : []));
    }
    case 'server': {
      const isForm = question.url === null && question.fields.length > 0;
      return [
        ...OPTION_ACTIONS.slice(0, listFewOptions(question).length),
        ...(isForm ? (['answer-text'] as const) : []),
        ...(canAcceptAsShown(question) ? (['answer-once'] as const) : []),
        'answer-no',
        'answer-cancel',
      ];
    }
    default:
      return question satisfies never;
  }
}
