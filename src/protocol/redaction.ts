/**
 * The text that replaces a secret in logs and in requests to models. No tool writes it into a file that did not
 * contain it before, because the secret in the file would be lost.
 */
export const REDACTED = '[redacted by Muster]';
