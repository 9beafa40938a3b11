import { splitCodeBlocks } from '../model/code-blocks.ts';
import type { EntryText } from '../model/transcript.ts';
import { LongText } from './long-text.tsx';

/** The maximum length of an answer that is shown in full at once, in UTF-16 units. */
const MAX_SHOWN = 12_000;

/** The text of an answer. Its blocks of code have the font of a terminal; links are shown as text and lead nowhere. */
export function Prose({ place, task }: { readonly place: EntryText; readonly task: string }) {
  if (place.length > MAX_SHOWN) return <LongText place={place} task={task} kind="prose" />;
  return (
    <>
      {splitCodeBlocks(place.text).map((block, index) =>
        block.isCode ? (
          <pre key={index} class="code" tabIndex={0} aria-label="Code">
            {block.text}
          </pre>
        ) : (
          <p key={index} class="text">
            {block.text}
          </p>
        ),
      )}
    </>
  );
}
