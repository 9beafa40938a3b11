import { useState } from 'preact/hooks';
import type { TaskRow } from '../../wire.ts';
import { isActiveTask } from '../model/status-texts.ts';
import { useAction } from './page-context.ts';

/** The field for a message to a task: it steers a task at work, and continues one that has ended. */
export function MessageBox({ row }: { readonly row: TaskRow }) {
  const act = useAction();
  const [text, setText] = useState('');
  const [isSending, setIsSending] = useState(false);
  const isActive = isActiveTask(row);
  const send = async (): Promise<void> => {
    if (text.trim() === '' || isSending) return;
    setIsSending(true);
    const isSent = await act((actions) => actions.act(row.id, isActive ? 'send' : 'resume', text));
    setIsSending(false);
    if (isSent) setText('');
  };
  return (
    <form
      class="message"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label for="message-text" class="unread">
        Message to the task
      </label>
      <textarea
        id="message-text"
        rows={1}
        value={text}
        placeholder={isActive ? 'Message to the task' : 'Message with which the task continues'}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void send();
        }}
      />
      <button type="submit" class="primary" aria-disabled={text.trim() === '' || isSending}>
        {isActive ? 'Send' : 'Resume'}
      </button>
    </form>
  );
}
