import type { StatusLook } from '../model/status-texts.ts';

const SHAPES: Readonly<Record<StatusLook, string>> = {
  work: 'M8 2a6 6 0 1 1-6 6h2a4 4 0 1 0 4-4z',
  queue: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zm0 1.6a4.4 4.4 0 1 0 0 8.8 4.4 4.4 0 0 0 0-8.8z',
  wait: 'M8 1.5 14.5 8 8 14.5 1.5 8zM7.1 4.8v4h1.8v-4zm0 5v1.6h1.8V9.8z',
  good: 'm13.3 4.1-7 7.6L2.7 8.2l1.1-1.2 2.4 2.4 5.9-6.4z',
  part: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zm0 1.6v8.8a4.4 4.4 0 0 0 0-8.8z',
  bad: 'm3.9 2.8 4.1 4 4.1-4 1.1 1.1-4 4.1 4 4.1-1.1 1.1-4.1-4-4.1 4-1.1-1.1 4-4.1-4-4.1z',
  off: 'M3.5 3.5h9v9h-9z',
};

/** The sign of a status. A text beside it says the same. */
export function StatusIcon({ look }: { readonly look: StatusLook }) {
  return (
    <svg class={`status ${look}`} viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={SHAPES[look]} />
    </svg>
  );
}

/** The arrow in front of a line that opens and closes. */
export function Chevron({ isOpen }: { readonly isOpen: boolean }) {
  return (
    <svg
      class={isOpen ? 'chevron open' : 'chevron'}
      viewBox="0 0 16 16"
      width="12"
      height="12"
      aria-hidden="true"
    >
      <path d="m5.5 3 5 5-5 5" fill="none" stroke="currentColor" stroke-width="1.8" />
    </svg>
  );
}

/** The sign of Muster: a parent with its children. */
export function MusterSign() {
  return (
    <svg class="sign" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path
        d="M10 5v4m0 0H4v5m6-5h6v5m-6-5v5"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
      />
      <circle cx="10" cy="4" r="2.5" />
      <circle cx="4" cy="15.5" r="2" />
      <circle cx="10" cy="15.5" r="2" />
      <circle cx="16" cy="15.5" r="2" />
    </svg>
  );
}
