/** The number of pictures for which an element is awaited. */
const MAX_PICTURES = 60;
/** The heading of a view. */
const HEADING = 'main h1';

/** The element that gets the focus in the next view; null: its heading. */
let wanted: string | null = null;
let isAwaited = false;

/** Returns true while an element is awaited: what is typed then is meant for it, and must not call actions. */
export function isFocusAwaited(): boolean {
  return isAwaited;
}

/** Focuses an element, as soon as it is there. */
export function focusElement(selector: string, pictures = 0): void {
  const element = document.querySelector<HTMLElement>(selector);
  isAwaited = element === null && pictures < MAX_PICTURES;
  if (element !== null) element.focus();
  else if (isAwaited) requestAnimationFrame(() => focusElement(selector, pictures + 1));
}

/** Lets the next view begin at an element, and not at its heading. */
export function wantFocusInNextView(selector: string): void {
  wanted = selector;
  isAwaited = true;
}

/**
 * Sets the focus after the route has changed. A new view begins at its heading, so that a screen reader says where it is.
 *
 * @param view `isNew`: false if the view is the same as before
 */
export function focusNewView(view: { readonly isNew: boolean }): void {
  const selector = wanted ?? (view.isNew ? HEADING : null);
  wanted = null;
  if (selector !== null) focusElement(selector);
}
