import { useState } from 'preact/hooks';
import { formatCount } from '../../../../report/cost-text.ts';
import { describeThrown } from '../data/page-source.ts';
import type { EntryText } from '../model/transcript.ts';
import { usePage } from './page-context.ts';

/** The lines and characters of a text that are shown before a reader opens it. */
const FIRST_LINES = 14;
const FIRST_LENGTH = 2_000;

interface LongTextProps {
  readonly place: EntryText;
  readonly task: string;
  /** `output`: with the font of a terminal. */
  readonly kind: 'prose' | 'output';
}

/** A text of any length: its beginning at first, then all that the page has, and then piece by piece what the server has. */
export function LongText({ place, task, kind }: LongTextProps) {
  const { store, notify } = usePage();
  const [isOpen, setIsOpen] = useState(false);
  const [more, setMore] = useState('');
  const [hasEnded, setHasEnded] = useState(false);
  const text = place.text + more;
  const first = cutBeginning(text);
  const shown = isOpen ? text : first;
  const isShort = first === text;
  const rest = hasEnded ? 0 : Math.max(place.length - text.length, 0);
  const readOn = async (): Promise<void> => {
    try {
      const { seq, pointer } = place;
      const from = text.length;
      const piece = await store.source.readText({ task, seq, pointer, from });
      setMore(more + piece.text);
      setHasEnded(piece.from + piece.text.length >= piece.length || piece.text === '');
    } catch (thrown) {
      notify(describeThrown(thrown), 'bad');
    }
  };
  return (
    <div class="long-text">
      {kind === 'output' ? (
        <pre class="output" tabIndex={0} aria-label="Result">
          {shown === '' ? '(empty)' : shown}
        </pre>
      ) : (
        <p class="text">{shown}</p>
      )}
      {!isShort && (
        <button type="button" class="link" onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? 'Show less' : `Show ${formatCount(text.length - first.length)} more characters`}
        </button>
      )}
      {(isOpen || isShort) && rest > 0 && (
        <button type="button" class="link" onClick={() => void readOn()}>
          Load more ({formatCount(rest)} characters)
        </button>
      )}
    </div>
  );
}

function cutBeginning(text: string): string {
  let end = -1;
  for (let line = 0; line < FIRST_LINES; line += 1) {
    end = text.indexOf('\n', end + 1);
    if (end < 0) break;
  }
  const byLines = end < 0 ? text : text.slice(0, end);
  return byLines.length > FIRST_LENGTH ? byLines.slice(0, FIRST_LENGTH) : byLines;
}
