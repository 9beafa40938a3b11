import { useState } from 'preact/hooks';
import {
  offeredRules,
  type PermissionQuestion,
  type Question,
} from '../../../../protocol/question.ts';
import { formatAge } from '../../../../base/text.ts';
import { LATER, type WebQuestion } from '../../wire.ts';
import { EditDiff } from './diff-lines.tsx';
import { PlanAnswer, ServerAnswer, TextAnswer, type SendAnswer } from './question-answers.tsx';
import { useAction, usePage } from './page-context.ts';

const ASKS: Readonly<Record<Question['kind'], string>> = {
  permission: 'asks to run',
  input: 'asks you',
  plan: 'asks to carry out this plan',
  server: 'passes on a question of the MCP server',
};

interface QuestionCardProps {
  readonly asked: WebQuestion;
  /** True on the page of the task, where its title need not be repeated. */
  readonly isBrief: boolean;
}

/** An open question with its answers. */
export function QuestionCard({ asked, isBrief }: QuestionCardProps) {
  const { store, go } = usePage();
  const act = useAction();
  const { question, askedAt, pid, isPutOff } = asked;
  const { id, task, chain, tool } = question;
  const [isSending, setIsSending] = useState(false);
  const answer: SendAnswer = async (body) => {
    if (isSending) return false;
    setIsSending(true);
    const isDone = await act((actions) =>
      actions.answer({ task, id }, { ...body, client: store.client }),
    );
    setIsSending(false);
    return isDone;
  };
  const title = question.description ?? store.tasks.get(task)?.title ?? task;
  const canAnswer = store.source.actions !== null;
  return (
    <section
      class={`question${isPutOff ? ' put-off' : ''}`}
      aria-labelledby={`${id}-title`}
      data-question={id}
    >
      <h2 id={`${id}-title`}>
        {chain.at(-1) ?? 'The agent'} {ASKS[question.kind]}{' '}
        {question.kind === 'permission' ? tool : question.kind === 'server' ? question.server : ''}
      </h2>
      <p class="soft">
        {isBrief ? (
          chain.join(' › ')
        ) : (
          <button
            type="button"
            class="link"
            onClick={() => go({ view: 'tasks', task, tab: 'transcript' })}
          >
            {chain.join(' › ')}: {title}
          </button>
        )}
        <span>
          {' '}
          · {formatAge(Date.now() - askedAt)}
          {pid === null ? ' · parked: an answer continues it' : ''}
          {isPutOff ? ' · not now' : ''}
        </span>
      </p>
      <QuestionContent question={question} />
      {canAnswer && <AnswerControls question={question} answer={answer} />}
      {canAnswer && !isPutOff && (
        <button type="button" class="link later" onClick={() => void answer({ answer: LATER })}>
          Not now
        </button>
      )}
    </section>
  );
}

function QuestionContent({ question }: { readonly question: Question }) {
  if (question.kind !== 'permission') {
    return question.kind === 'plan' ? null : <p class="text">{question.text}</p>;
  }
  const { commands, paths, hosts, input, edits, reason, serverSays } = question;
  const lines = [...commands, ...paths, ...hosts, ...(input === null ? [] : [input])];
  return (
    <>
      {lines.length > 0 && (
        <pre class="asked" tabIndex={0} aria-label="The question is about">
          {lines.join('\n')}
        </pre>
      )}
      {edits.map(({ path, before, after, everywhere }, index) => (
        <EditDiff key={index} edit={{ path, before, after, isEverywhere: everywhere }} />
      ))}
      <p class="soft">{reason}</p>
      {serverSays !== undefined && <p class="soft">{serverSays}</p>}
    </>
  );
}

function AnswerControls({
  question,
  answer,
}: {
  readonly question: Question;
  readonly answer: SendAnswer;
}) {
  switch (question.kind) {
    case 'permission':
      return <PermissionAnswer question={question} answer={answer} />;
    case 'input':
      return <TextAnswer question={question} answer={answer} />;
    case 'plan':
      return <PlanAnswer question={question} answer={answer} />;
    case 'server':
      return <ServerAnswer question={question} answer={answer} />;
    default:
      return question satisfies never;
  }
}

const SCOPE_NAMES = {
  task: 'in this conversation',
  project: 'in this project',
  user: 'everywhere',
} as const;

function PermissionAnswer({
  question,
  answer,
}: {
  readonly question: PermissionQuestion;
  readonly answer: SendAnswer;
}) {
  const { id, scopes, modeToGrant, offersEdits } = question;
  const rules = offeredRules(question);
  const [scope, setScope] = useState<string>(scopes[0] ?? 'task');
  const [reason, setReason] = useState('');
  return (
    <div class="answers">
      <div class="answer-row">
        <button type="button" class="primary" onClick={() => void answer({ answer: 'yes' })}>
          Yes, once
        </button>
        {offersEdits === true && (
          <button type="button" onClick={() => void answer({ answer: 'edits' })}>
            Yes, and all edits
          </button>
        )}
        {modeToGrant !== undefined && (
          <button
            type="button"
            onClick={() => void answer({ answer: 'mode', scope: modeToGrant.scopes[0] ?? 'task' })}
          >
            Let {modeToGrant.agent} work in mode {modeToGrant.mode}
          </button>
        )}
      </div>
      {rules.length > 0 && (
        <div class="answer-row">
          <button type="button" onClick={() => void answer({ answer: 'always', scope })}>
            Always
          </button>
          <label class="unread" for={`${id}-scope`}>
            Where always
          </label>
          <select
            id={`${id}-scope`}
            value={scope}
            onChange={(event) => setScope(event.currentTarget.value)}
          >
            {scopes.map((each) => (
              <option key={each} value={each}>
                {SCOPE_NAMES[each]}
              </option>
            ))}
          </select>
          <span class="soft mono">{rules.join(', ')}</span>
        </div>
      )}
      <form
        class="answer-row"
        onSubmit={(event) => {
          event.preventDefault();
          void answer({ answer: 'no', ...(reason.trim() === '' ? {} : { reason }) });
        }}
      >
        <button type="submit" class="danger">
          No
        </button>
        <label class="unread" for={`${id}-reason`}>
          Reason for the no
        </label>
        <input
          id={`${id}-reason`}
          type="text"
          value={reason}
          placeholder="Reason, as an instruction (optional)"
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </form>
    </div>
  );
}
