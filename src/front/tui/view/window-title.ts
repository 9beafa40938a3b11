import { basename } from 'node:path';
import { sanitizeLine } from '../../../base/terminal-text.ts';
import { truncate } from '../../../base/text.ts';
import { hasWork, isCutOff, rootRow } from '../model/task-tree.ts';
import type { AppState } from '../model/app-state.ts';

/** The maximum length of a title, in code points. */
const MAX_LENGTH = 80;

/**
 * Returns the title of the window: a sign for the state of the conversation (`?` a question waits, `●` at work, `✓`
 * done), the directory, and what the conversation is about. Contains no control characters.
 */
export function windowTitle({ tree }: Pick<AppState, 'tree'>, cwd: string): string {
  const root = rootRow(tree);
  const about = root === undefined || root.description === '' ? '' : `: ${root.description}`;
  const text = `${stateSign(tree)}${basename(cwd) || '/'}${about}`;
  return truncate(sanitizeLine(text), MAX_LENGTH);
}

function stateSign(tree: AppState['tree']): string {
  if (tree.questions.size > 0) return '? ';
  if (hasWork(tree)) return '● ';
  return tree.root === null || isCutOff(tree) ? '' : '✓ ';
}
