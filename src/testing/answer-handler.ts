import type { Answer } from './answer.ts';
import type { RecordedRequest } from './wire-request.ts';

/** Decides an answer. What it throws is answered with status 400 and stands in the outcome. */
export type AnswerHandler = (request: RecordedRequest) => Answer | Promise<Answer>;
