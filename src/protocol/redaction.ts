/**
 * The text that replaces a secret in logs and in requests to models. No tool writes this text into a file that did not
 * contain it before, because the secret in the file would then be lost.
 */
export const REDACTED = '[redacted by Muster]';
