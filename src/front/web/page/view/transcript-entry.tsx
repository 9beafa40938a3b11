import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { formatClockTime } from '../../../../base/local-time.ts';
import { plural } from '../../../../base/text.ts';
import { callSubject } from '../../../../report/call-subject.ts';
import { formatUsd } from '../../../../report/cost-text.ts';
import { formatShortCount, formatShortDuration } from '../../../../report/figures.ts';
import { listRequestedEdits } from '../../../../report/requested-edits.ts';
import type {
  AnswerEntry,
  TranscriptCall,
  TranscriptCallState,
  EndEntry,
  InputEntry,
  NoteEntry,
  TranscriptEntry,
} from '../model/transcript.ts';
import type { StatusLook } from '../model/status-texts.ts';
import { EditDiff } from './diff-lines.tsx';
import { Chevron, StatusIcon } from './icons.tsx';
import { LongText } from './long-text.tsx';
import { usePage } from './page-context.ts';
import { Prose } from './prose.tsx';

interface EntryProps<E> {
  readonly entry: E;
  /** The id of the task. */
  readonly task: string;
}

/** One entry of a transcript. */
export function TranscriptEntryView({ entry, task }: EntryProps<TranscriptEntry>) {
  switch (entry.kind) {
    case 'input':
      return <InputView entry={entry} task={task} />;
    case 'answer':
      return <AnswerView entry={entry} task={task} />;
    case 'call':
      return <CallView entry={entry} task={task} />;
    case 'note':
      return <NoteView entry={entry} />;
    case 'end':
      return <EndView entry={entry} />;
    default:
      return entry satisfies never;
  }
}

function Entry({
  entry,
  kind,
  children,
}: {
  readonly entry: TranscriptEntry;
  readonly kind: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div
      class={`entry ${kind}${entry.isCut ? ' cut' : ''}`}
      data-seq={entry.seq}
      data-kind={entry.kind}
    >
      {entry.isCut && <p class="cut-note">Cut off by a rewind</p>}
      {children}
    </div>
  );
}

const INPUT_NAMES: Readonly<Record<InputEntry['input'], string>> = {
  prompt: 'Prompt',
  message: 'Message',
  result: 'Result',
  notice: 'Notice',
};

function InputView({ entry, task }: EntryProps<InputEntry>) {
  const { from, input, text, attached } = entry;
  return (
    <Entry entry={entry} kind={input === 'notice' || input === 'result' ? 'notice' : 'input'}>
      <p class="entry-head">
        <b>{INPUT_NAMES[input]}</b>
        <span>{from === 'user' ? '' : `from ${from}`}</span>
        <time>{formatClockTime(entry.at)}</time>
      </p>
      <LongText place={text} task={task} kind="prose" />
      {attached.length > 0 && <p class="soft">With {attached.join(', ')}</p>}
    </Entry>
  );
}

function AnswerView({ entry, task }: EntryProps<AnswerEntry>) {
  const { turn, model, ms, tokens, costUsd, texts, reasoning } = entry;
  return (
    <Entry entry={entry} kind="answer">
      <p class="entry-head">
        <b>Turn {turn}</b>
        <span class="mono">{model}</span>
        <span>
          {formatShortCount(tokens.input)} in, {formatShortCount(tokens.output)} out
          {tokens.cached > 0 ? `, ${formatShortCount(tokens.cached)} cached` : ''}
        </span>
        <span>{costUsd === null ? '' : formatUsd(costUsd)}</span>
        <span>{formatShortDuration(ms)}</span>
        <time>{formatClockTime(entry.at)}</time>
      </p>
      {reasoning.map((each) => (
        <details key={each.pointer} class="reasoning">
          <summary>Thinking</summary>
          <LongText place={each} task={task} kind="prose" />
        </details>
      ))}
      {texts.map((each) => (
        <Prose key={each.pointer} place={each} task={task} />
      ))}
    </Entry>
  );
}

const CALL_LOOKS: Readonly<Record<TranscriptCallState, StatusLook>> = {
  requested: 'queue',
  running: 'work',
  done: 'good',
  failed: 'bad',
  refused: 'off',
};

function CallView({ entry, task }: EntryProps<TranscriptCall>) {
  const { go, store } = usePage();
  const { tool, input, state, result, ms, child, changed, exitCodes } = entry;
  const edits = listRequestedEdits(tool, input);
  const [isOpen, setIsOpen] = useState(edits.length > 0 || state === 'failed');
  const codes = exitCodes.filter((code) => code !== 0);
  return (
    <Entry entry={entry} kind="call">
      <button
        type="button"
        class="call-head"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        <Chevron isOpen={isOpen} />
        <StatusIcon look={CALL_LOOKS[state]} />
        <b>{tool}</b>
        <span class="subject mono">{callSubject(tool, input)}</span>
        <span class="soft">
          {codes.length > 0 ? `exit code ${codes.map((code) => code ?? 'signal').join(', ')}` : ''}
          {state === 'done' || codes.length > 0 ? '' : state}
        </span>
        <span class="soft">{ms === null ? '' : formatShortDuration(ms)}</span>
      </button>
      {child !== null && (
        <p class="child-link">
          <button
            type="button"
            class="link"
            onClick={() => go({ view: 'tasks', task: child, tab: 'transcript' })}
          >
            {store.tasks.get(child)?.title ?? `Task ${child}`}
          </button>
        </p>
      )}
      {isOpen && (
        <div class="call-body">
          {edits.length > 0 ? (
            edits.map((edit, index) => <EditDiff key={index} edit={edit} />)
          ) : (
            <pre class="input" tabIndex={0} aria-label="Arguments">
              {formatInput(input)}
            </pre>
          )}
          {result !== null && <LongText place={result} task={task} kind="output" />}
          {changed.length > 0 && (
            <p class="soft">
              {plural(changed.length, 'file')} changed: {changed.join(', ')}
            </p>
          )}
        </div>
      )}
    </Entry>
  );
}

/** The maximum length of the arguments of a call that are shown, in UTF-16 units. */
const MAX_INPUT = 8_000;

function formatInput(input: TranscriptCall['input']): string {
  const text = typeof input === 'string' ? input : JSON.stringify(input, null, 2);
  return text.length <= MAX_INPUT
    ? text
    : `${text.slice(0, MAX_INPUT)}\n… ${text.length - MAX_INPUT} characters left out`;
}

function NoteView({ entry }: { readonly entry: NoteEntry }) {
  return (
    <Entry entry={entry} kind={`note ${entry.tone}`}>
      <p>
        <span class="note-text">{entry.text}</span>
        <time>{formatClockTime(entry.at)}</time>
      </p>
    </Entry>
  );
}

function EndView({ entry }: { readonly entry: EndEntry }) {
  return (
    <Entry entry={entry} kind={`end ${entry.status}`}>
      <p>
        <b>Ended: {entry.status}</b> <span>{entry.because}</span>
        <time>{formatClockTime(entry.at)}</time>
      </p>
      {entry.error !== null && <p class="bad">{entry.error}</p>}
    </Entry>
  );
}
