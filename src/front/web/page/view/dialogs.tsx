import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { StartForm } from '../../wire.ts';
import { describeThrown } from '../data/page-source.ts';
import { PAGE_KEYS, TREE_KEYS } from '../model/page-keys.ts';
import { useAction, useLoaded, usePage, type PageDialog } from './page-context.ts';
import { areKeysOn, switchKeys } from './saved-choices.ts';

interface DialogProps {
  readonly onClose: () => void;
}

/** The open dialog. */
export function OpenDialog({ dialog, onClose }: DialogProps & { readonly dialog: PageDialog }) {
  switch (dialog.kind) {
    case 'start':
      return <StartDialog onClose={onClose} />;
    case 'stop':
      return <StopDialog task={dialog.task} onClose={onClose} />;
    case 'help':
      return <HelpDialog onClose={onClose} />;
    default:
      return dialog satisfies never;
  }
}

/** A modal dialog. The browser keeps the focus inside, closes it with Escape, and then gives the focus back. */
function Modal({
  title,
  onClose,
  children,
}: DialogProps & { readonly title: string; readonly children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      dialog?.close();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}

function StopDialog({ task, onClose }: DialogProps & { readonly task: string }) {
  const { store } = usePage();
  const act = useAction();
  const [reason, setReason] = useState('');
  const title = store.tasks.get(task)?.title ?? task;
  return (
    <Modal title="Stop the task?" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const text = reason.trim() === '' ? null : reason;
          void act((actions) => actions.act(task, 'stop', text));
          onClose();
        }}
      >
        <p>
          <b class="isolated">{title}</b> and everything below it stop. What they have found is
          kept, and they can be resumed.
        </p>
        <label for="stop-reason">Reason (optional)</label>
        <input
          id="stop-reason"
          type="text"
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        <div class="dialog-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="danger filled">
            Stop
          </button>
        </div>
      </form>
    </Modal>
  );
}

function StartDialog({ onClose }: DialogProps) {
  const { store, go, notify } = usePage();
  const { actions } = store.source;
  const loaded = useLoaded<StartForm | null>('start', '', () =>
    actions === null ? Promise.resolve(null) : actions.startForm(),
  );
  const form = loaded.kind === 'loaded' ? loaded.data : null;
  const [prompt, setPrompt] = useState('');
  const [agent, setAgent] = useState('');
  const [mode, setMode] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [isStarting, setIsStarting] = useState(false);
  const start = async (): Promise<void> => {
    if (actions === null || isStarting) return;
    if (prompt.trim() === '') {
      setProblem('Write what the task is to do.');
      return;
    }
    setIsStarting(true);
    const chosenMode = form?.modes.find((each) => each === mode);
    try {
      const { id } = await actions.start({
        prompt,
        ...(agent === '' ? {} : { agent }),
        ...(chosenMode === undefined ? {} : { mode: chosenMode }),
      });
      notify('The task has started.');
      onClose();
      go({ view: 'tasks', task: id, tab: 'transcript' });
    } catch (thrown) {
      setProblem(describeThrown(thrown));
      setIsStarting(false);
    }
  };
  return (
    <Modal title="Start a task" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <label for="start-prompt">Prompt</label>
        <textarea
          id="start-prompt"
          rows={6}
          value={prompt}
          onInput={(event) => setPrompt(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void start();
          }}
        />
        <div class="fields">
          <div>
            <label for="start-agent">Agent</label>
            <select
              id="start-agent"
              value={agent}
              onChange={(event) => setAgent(event.currentTarget.value)}
            >
              <option value="">Main agent</option>
              {form?.agents.map(({ name, description }) => (
                <option key={name} value={name} title={description}>
                  {name}
                </option>
              ))}
            </select>
          </div>
          <div>
            <label for="start-mode">Mode</label>
            <select
              id="start-mode"
              value={mode === '' ? (form?.defaultMode ?? '') : mode}
              onChange={(event) => setMode(event.currentTarget.value)}
            >
              {form?.modes.map((each) => (
                <option key={each} value={each}>
                  {each}
                </option>
              ))}
            </select>
          </div>
        </div>
        {form !== null && (
          <p class="soft">
            It works in <span class="mono">{form.cwd}</span>.
          </p>
        )}
        {loaded.kind === 'failed' && <p class="bad">{loaded.reason}</p>}
        {problem !== null && (
          <p class="bad" role="alert">
            {problem}
          </p>
        )}
        <div class="dialog-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" aria-disabled={isStarting}>
            Start
          </button>
        </div>
      </form>
    </Modal>
  );
}

function HelpDialog({ onClose }: DialogProps) {
  const [isOn, setIsOn] = useState(areKeysOn());
  return (
    <Modal title="Keys" onClose={onClose}>
      <label class="check">
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => {
            const { checked } = event.currentTarget;
            setIsOn(checked);
            switchKeys(checked ? 'on' : 'off');
          }}
        />
        Single keys call actions
      </label>
      <div class="keys" tabIndex={0} role="region" aria-label="List of keys">
        <h3>Everywhere</h3>
        <dl>
          {PAGE_KEYS.map(({ key, help }) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{help}</dd>
            </div>
          ))}
          <div>
            <dt>
              <kbd>Esc</kbd>
            </dt>
            <dd>Close a dialog, or go back to the tree</dd>
          </div>
        </dl>
        <h3>In the tree</h3>
        <dl>
          {TREE_KEYS.map(([keys, help]) => (
            <div key={keys}>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{help}</dd>
            </div>
          ))}
        </dl>
      </div>
      <div class="dialog-buttons">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Modal>
  );
}
