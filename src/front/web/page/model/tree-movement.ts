import type { TreeLine } from './task-tree.ts';

/** The effect of a key in the tree: the focus moves, a task opens or closes, or all children of its parent open. */
export type TreeMove =
  | { readonly kind: 'focus'; readonly index: number }
  | { readonly kind: 'toggle'; readonly id: string; readonly open: boolean }
  | { readonly kind: 'open-siblings'; readonly parent: string | null };

const PAGE_LINES = 10;

/** Decides what a key does in the tree, as the pattern for tree views of WAI-ARIA says; null: nothing. */
export function moveInTree(
  lines: readonly TreeLine[],
  index: number,
  key: string,
): TreeMove | null {
  const line = lines[index];
  if (line === undefined) return null;
  const focus = (to: number): TreeMove => ({
    kind: 'focus',
    index: Math.min(Math.max(to, 0), lines.length - 1),
  });
  const { row, isOpen, level } = line;
  switch (key) {
    case 'ArrowDown':
      return focus(index + 1);
    case 'ArrowUp':
      return focus(index - 1);
    case 'PageDown':
      return focus(index + PAGE_LINES);
    case 'PageUp':
      return focus(index - PAGE_LINES);
    case 'Home':
      return focus(0);
    case 'End':
      return focus(lines.length - 1);
    case 'ArrowRight':
      if (isOpen === null) return null;
      return isOpen ? focus(index + 1) : { kind: 'toggle', id: row.id, open: true };
    case 'ArrowLeft': {
      if (isOpen === true) return { kind: 'toggle', id: row.id, open: false };
      const parent = lines.slice(0, index).findLastIndex((each) => each.level === level - 1);
      return parent < 0 ? null : focus(parent);
    }
    case '*':
      return { kind: 'open-siblings', parent: row.parent };
    default:
      return null;
  }
}

/** Finds the next line after `index` whose title begins with the letter, around the end of the list; null: none does. */
export function findByLetter(
  lines: readonly TreeLine[],
  index: number,
  letter: string,
): number | null {
  const wanted = letter.toLowerCase();
  for (let step = 1; step <= lines.length; step += 1) {
    const at = (index + step) % lines.length;
    if (lines[at]?.row.title.toLowerCase().startsWith(wanted) === true) return at;
  }
  return null;
}
