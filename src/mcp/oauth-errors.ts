import {
  IssuerMismatchError,
  OAuthError,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client';
import { MusterError, errorMessage } from '../base/errors.ts';
import { quoteOneLine } from './session-errors.ts';

/** The maximum length of a text of an authorization server in an error. */
const MAX_LENGTH = 300;
/** The beginning of the part of an error of the SDK that quotes an answer, which may contain tokens. */
const QUOTED_ANSWER = /\s*(?:Invalid OAuth error response: .*)?Raw body:.*$/s;

/** Converts an error of the SDK or of a connection into one that people can read and that holds no secret. */
export function describeOAuthFailure(thrown: unknown): MusterError {
  if (thrown instanceof MusterError) return thrown;
  // An error of the guarded `fetch` says what happened in its cause.
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  if (cause instanceof MusterError) return cause;
  return new MusterError('PROVIDER_ERROR', describe(thrown));
}

function describe(thrown: unknown): string {
  if (thrown instanceof IssuerMismatchError) {
    const { expected, received } = thrown;
    const given = received === undefined ? 'no issuer' : `the issuer ${quote(received)}`;
    return `an answer names ${given} instead of ${quote(expected ?? '')}, so it was not used: it may belong to another authorization server`;
  }
  if (thrown instanceof RegistrationRejectedError) {
    return `its authorization server does not register Muster (HTTP ${thrown.status}): ${quote(thrown.body ?? '')}`;
  }
  if (thrown instanceof OAuthError) {
    const detail = quote(thrown.message.replace(QUOTED_ANSWER, ''));
    const isCode = detail === '' || detail === thrown.code;
    return `the authorization server answered ${quote(thrown.code)}${isCode ? '' : `: ${detail}`}`;
  }
  if (thrown instanceof Error && thrown.name.endsWith('ZodError')) {
    return 'an answer of the authorization server has not the required form';
  }
  if (thrown instanceof SyntaxError) return 'an answer of the authorization server is not JSON';
  return quote(errorMessage(thrown));
}

function quote(text: string): string {
  return quoteOneLine(text.slice(0, MAX_LENGTH));
}
