import { useEffect, useRef, useState } from 'preact/hooks';
import { plural } from '../../../../base/text.ts';
import { TranscriptFold } from '../model/transcript.ts';
import { usePage } from './page-context.ts';
import { TranscriptEntryView } from './transcript-entry.tsx';
import { VirtualList, type VirtualListHandle } from './virtual-list.tsx';

/** The expected height of an entry in pixels, before it is measured. */
const ENTRY_HEIGHT = 96;

type Loading = 'loading' | 'live' | { readonly ended: string };

/** The transcript of a task, which follows the log of the task. */
export function TranscriptView({ id }: { readonly id: string }) {
  const { store } = usePage();
  const transcript = useRef(new TranscriptFold());
  const [, setSeq] = useState(-1);
  const [loading, setLoading] = useState<Loading>('loading');
  const list = useRef<VirtualListHandle>(null);
  /** Whether the reader is at the end, where new entries are followed. */
  const [follows, setFollows] = useState(true);

  useEffect(() => {
    transcript.current = new TranscriptFold();
    return store.source.followLog(id, {
      events(events) {
        for (const event of events) transcript.current.add(event);
        setSeq(transcript.current.lastSeq);
      },
      live() {
        setLoading('live');
      },
      reset(reason) {
        setLoading({ ended: reason });
      },
    });
  }, [id]);

  const { entries, omitted, lastSeq } = transcript.current;
  useEffect(() => {
    if (follows && entries.length > 0) list.current?.toEnd();
  }, [lastSeq]);

  return (
    <div
      class="transcript"
      data-seq={lastSeq}
      data-state={typeof loading === 'string' ? loading : 'ended'}
    >
      {omitted > 0 && (
        <p class="note">
          {plural(omitted, 'earlier entry', 'earlier entries')} left out:{' '}
          <code>muster tasks log {id}</code>
        </p>
      )}
      {typeof loading === 'object' && <p class="note bad">{loading.ended}</p>}
      {entries.length === 0 && loading === 'loading' && <p class="note">Loading…</p>}
      <VirtualList
        count={entries.length}
        itemHeight={ENTRY_HEIGHT}
        isMeasured
        keyOf={(at) => entries[at]?.key ?? String(at)}
        keptIndex={null}
        handle={list}
        onScroll={() => {
          setFollows(list.current?.isAtEnd() ?? true);
        }}
        container={{
          class: 'entries',
          role: 'region',
          'aria-label': 'Transcript',
          tabIndex: 0,
        }}
        renderItem={(at) => {
          const entry = entries[at];
          return entry === undefined ? null : <TranscriptEntryView entry={entry} task={id} />;
        }}
      />
      {!follows && (
        <button
          type="button"
          class="to-end"
          onClick={() => {
            setFollows(true);
            list.current?.toEnd();
          }}
        >
          Newest entries
        </button>
      )}
    </div>
  );
}
