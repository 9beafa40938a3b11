import type { RequestedEdit } from '../../../../report/requested-edits.ts';
import type { DiffTextLine } from '../model/line-diff.ts';
import { compareTextLines } from '../model/line-diff.ts';

/** The maximum number of lines of a difference that are shown at once. */
const MAX_LINES = 400;
/** The unchanged lines that are kept around a change. */
const CONTEXT_LINES = 3;

const CLASSES: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', ' ': 'same' };
const NAMES: Readonly<Record<string, string>> = { '+': 'added ', '-': 'removed ' };

/** The lines of a difference. */
export function DiffLines({
  lines,
  label,
}: {
  readonly lines: readonly string[];
  readonly label: string;
}) {
  return (
    <pre class="diff" tabIndex={0} aria-label={label}>
      {lines.slice(0, MAX_LINES).map((line, index) => (
        <span key={index} class={CLASSES[line[0] ?? ' '] ?? 'same'}>
          <span class="unread">{NAMES[line[0] ?? ' '] ?? ''}</span>
          {line}
          {'\n'}
        </span>
      ))}
      {lines.length > MAX_LINES && (
        <span class="same">… {lines.length - MAX_LINES} lines left out</span>
      )}
    </pre>
  );
}

/** The change of text that a call requests. */
export function EditDiff({ edit }: { readonly edit: RequestedEdit }) {
  const { path, before, after, isEverywhere } = edit;
  const lines = withContext(compareTextLines(before ?? '', after));
  return (
    <figure class="edit">
      <figcaption class="mono">
        {path}
        {isEverywhere ? ' (every occurrence)' : ''}
      </figcaption>
      <DiffLines lines={lines} label={`Change of ${path}`} />
    </figure>
  );
}

/** Leaves out unchanged lines that are far from a change. */
function withContext(lines: readonly DiffTextLine[]): readonly string[] {
  const near = lines.map(() => false);
  for (const [index, { mark }] of lines.entries()) {
    if (mark === ' ') continue;
    for (let at = index - CONTEXT_LINES; at <= index + CONTEXT_LINES; at += 1) {
      if (at >= 0 && at < near.length) near[at] = true;
    }
  }
  return lines.flatMap(({ mark, text }, index) => {
    if (near[index] === true) return [`${mark}${text}`];
    return near[index - 1] === true && index > 0 ? ['  …'] : [];
  });
}
