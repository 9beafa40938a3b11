import { useState } from 'preact/hooks';
import type { FormField } from '../../../../protocol/form.ts';
import type { InputQuestion, PlanQuestion, ServerQuestion } from '../../../../protocol/question.ts';
import type { AnswerQuestionBody } from '../../wire.ts';
import { toTextAnswer } from '../model/answer-text.ts';

/** Sends an answer. It resolves to whether the answer was accepted. */
export type SendAnswer = (body: Omit<AnswerQuestionBody, 'client'>) => Promise<boolean>;

interface AnswerProps<Q> {
  readonly question: Q;
  readonly answer: SendAnswer;
}

/** The answer to a question of AskUser: one of its options, or any text. */
export function TextAnswer({ question, answer }: AnswerProps<InputQuestion>) {
  const [text, setText] = useState('');
  const { id, options } = question;
  return (
    <div class="answers">
      {options.length > 0 && (
        <div class="answer-row">
          {options.map((option, index) => (
            <button
              key={option}
              type="button"
              onClick={() => void answer({ answer: String(index + 1) })}
            >
              {option}
            </button>
          ))}
        </div>
      )}
      <form
        class="answer-row"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') void answer({ answer: toTextAnswer(text) });
        }}
      >
        <label class="unread" for={`${id}-text`}>
          Answer
        </label>
        <input
          id={`${id}-text`}
          type="text"
          value={text}
          placeholder="Answer"
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Answer
        </button>
      </form>
    </div>
  );
}

/** The answer to a plan, which can be changed before it is approved. */
export function PlanAnswer({ question, answer }: AnswerProps<PlanQuestion>) {
  const { id } = question;
  const [plan, setPlan] = useState(question.text);
  const [reason, setReason] = useState('');
  const changed = plan === question.text ? {} : { plan };
  return (
    <div class="answers">
      <label class="unread" for={`${id}-plan`}>
        Plan
      </label>
      <textarea
        id={`${id}-plan`}
        class="plan mono"
        rows={Math.min(Math.max(plan.split('\n').length, 4), 18)}
        value={plan}
        onInput={(event) => setPlan(event.currentTarget.value)}
      />
      <div class="answer-row">
        <button
          type="button"
          class="primary"
          onClick={() => void answer({ answer: 'yes', ...changed })}
        >
          Approve
        </button>
        <button type="button" onClick={() => void answer({ answer: 'always', ...changed })}>
          Approve, and allow edits
        </button>
      </div>
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
          placeholder="Reason (optional)"
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </form>
    </div>
  );
}

/** The answer to a question of an MCP server: the fields of its form, or that the user has opened its address. */
export function ServerAnswer({ question, answer }: AnswerProps<ServerQuestion>) {
  const { id, url, fields } = question;
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const submit = (): void => {
    const filled = fields.flatMap(({ name, type }) => {
      const value = values[name] ?? '';
      return value === '' ? [] : [[name, toFieldValue(type, value)] as const];
    });
    const isEmpty = url !== null || filled.length === 0;
    void answer({ answer: isEmpty ? 'yes' : JSON.stringify(Object.fromEntries(filled)) });
  };
  return (
    <form
      class="answers"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {url !== null && (
        <p>
          It asks you to open this address. Look at it before you do: <code>{url}</code>
        </p>
      )}
      {fields.map((field) => (
        <ServerField
          key={field.name}
          id={`${id}-${field.name}`}
          field={field}
          value={values[field.name] ?? ''}
          onValue={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
      <div class="answer-row">
        <button type="submit" class="primary">
          {url === null ? 'Send' : 'I have opened it'}
        </button>
        <button type="button" class="danger" onClick={() => void answer({ answer: 'no' })}>
          No
        </button>
        <button type="button" onClick={() => void answer({ answer: 'cancel' })}>
          Cancel
        </button>
      </div>
    </form>
  );
}

interface ServerFieldProps {
  readonly id: string;
  readonly field: FormField;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function ServerField({ id, field, value, onValue }: ServerFieldProps) {
  const { name, title, description, type, isRequired, options } = field;
  const choices =
    type === 'boolean'
      ? [
          { value: 'true', title: 'Yes' },
          { value: 'false', title: 'No' },
        ]
      : options;
  return (
    <div class="field">
      <label for={id}>
        {title === '' ? name : title}
        {isRequired ? ' (required)' : ''}
      </label>
      {description !== '' && <p class="soft">{description}</p>}
      {choices.length > 0 && type !== 'choices' ? (
        <select id={id} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          <option value="">{describeDefault(field)}</option>
          {choices.map((each) => (
            <option key={each.value} value={each.value}>
              {each.title === '' ? each.value : each.title}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          type="text"
          value={value}
          placeholder={
            type === 'choices'
              ? options.map((each) => each.value).join(', ')
              : describeDefault(field)
          }
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </div>
  );
}

function describeDefault({ default: value }: FormField): string {
  return value === undefined ? '' : `Default: ${String(value)}`;
}

function toFieldValue(
  type: FormField['type'],
  value: string,
): string | number | boolean | string[] {
  switch (type) {
    case 'boolean':
      return value === 'true';
    case 'number':
    case 'integer':
      // The server says what is wrong with a text that is not a number.
      return Number.isFinite(Number(value)) ? Number(value) : value;
    case 'choices':
      return value.split(',').map((each) => each.trim());
    default:
      return value;
  }
}
