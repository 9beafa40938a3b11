import type { AnswerRequest } from '../engine/questions/parse-answer.ts';
import { describeField } from '../protocol/form.ts';
import { createRefusal, offeredRules, type Question } from '../protocol/question.ts';
import { describeQuestionContent } from './question-content.ts';

/** A form that a client shows to its user: an object of texts, as clients of MCP and ACP accept it. */
export interface QuestionForm {
  readonly message: string;
  readonly requestedSchema: {
    readonly type: 'object';
    readonly properties: Record<string, FormProperty>;
    readonly required: string[];
  };
}

type FormProperty = {
  readonly type: 'string';
  readonly title?: string;
  readonly description?: string;
  readonly enum?: string[];
};

/** The response of the user to a form. The values come from the client and may be anything. */
export interface FormResponse {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>> | undefined;
}

const REASON: FormProperty = { type: 'string', description: 'for a no: what to do instead' };

/** Creates the form for a question of a task. */
export function createQuestionForm(question: Question): QuestionForm {
  const who = question.chain.join(' > ');
  const message = [`${who} ${ASKS[question.kind]}`, ...describeQuestionContent(question)].join(
    '\n',
  );
  return { message, requestedSchema: { type: 'object', ...createFields(question) } };
}

const ASKS: Readonly<Record<Question['kind'], string>> = {
  permission: 'asks whether this may run:',
  plan: 'asks whether it may carry out this plan:',
  input: 'asks:',
  server: 'passes on a question:',
};

function createFields(question: Question): Omit<QuestionForm['requestedSchema'], 'type'> {
  switch (question.kind) {
    case 'permission': {
      const rules = offeredRules(question);
      const always = rules.length === 0 ? [] : ['always'];
      const description =
        rules.length === 0 ? 'yes: once' : `yes: once. always: ${rules.join(', ')}, in this task`;
      return {
        properties: {
          answer: { type: 'string', enum: ['yes', ...always, 'no'], description },
          reason: REASON,
        },
        required: ['answer'],
      };
    }
    case 'plan':
      return {
        properties: { answer: { type: 'string', enum: ['yes', 'no'] }, reason: REASON },
        required: ['answer'],
      };
    case 'input': {
      const { options } = question;
      const description =
        options.length === 0 ? {} : { description: `such as: ${options.join(', ')}` };
      return { properties: { answer: { type: 'string', ...description } }, required: ['answer'] };
    }
    case 'server':
      return {
        properties: Object.fromEntries(
          question.fields.map((field) => [
            field.name,
            { type: 'string', description: describeField(field).join('\n') },
          ]),
        ),
        required: question.fields.filter(({ isRequired }) => isRequired).map(({ name }) => name),
      };
  }
}

/** Reads the response of the user to the form of a question. A form that was not accepted, or holds nothing, refuses. */
export function readFormAnswer(
  question: Question,
  { action, content }: FormResponse,
): AnswerRequest {
  if (action !== 'accept') return createRefusal(question, REFUSALS[action]);
  const { answer, reason } = content ?? {};
  if (question.kind === 'server') {
    const values = question.fields.flatMap(({ name }) => {
      const value = content?.[name];
      return typeof value === 'string' && value !== '' ? [[name, value] as const] : [];
    });
    return { text: values.length === 0 ? 'yes' : JSON.stringify(Object.fromEntries(values)) };
  }
  if (typeof answer !== 'string' || answer === '')
    return createRefusal(question, 'no answer was given');
  const words = typeof reason === 'string' && reason.trim() !== '' ? { reason } : {};
  return { text: answer, ...(answer === 'no' ? words : {}) };
}

const REFUSALS = { decline: 'the user declined', cancel: 'the user closed the question' } as const;
