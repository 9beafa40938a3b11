import { useEffect, useState } from 'preact/hooks';
import { usePage } from './page-context.ts';

/** The least time between two texts for the screen reader, in milliseconds. */
const PAUSE_MS = 2_500;

/** The part of the page from which a screen reader reads changes out, with pauses between them. */
export function LiveRegion() {
  const { store } = usePage();
  const [text, setText] = useState('');
  useEffect(() => {
    const timer = setInterval(() => {
      const next = store.announcer.take();
      if (next !== '') setText(next);
    }, PAUSE_MS);
    return () => {
      clearInterval(timer);
    };
  }, [store]);
  return (
    <div class="unread" role="log" aria-live="polite" aria-label="Changes">
      {text}
    </div>
  );
}
