const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;
/**
 * Matches names that only look secret: those of the name or location of a secret (`_FILE`, `_URL`), and those of a token
 * limit of a model (`_MAX_TOKENS`).
 */
const NOT_SECRET_NAME = /_(FILE|PATH|DIR|ID|NAME|URL|(MAX|TREE)_TOKENS)$/i;
/** Matches the user and the password in `scheme://user:password@host`. */
const CREDENTIALS_IN_URL = /:\/\/([^\s/@:]*):([^\s/]+)@/g;

/** Tells whether an environment variable of this name usually holds a secret. */
export function isSecretVariable(name: string): boolean {
  return SECRET_NAME.test(name) && !NOT_SECRET_NAME.test(name);
}

/** Tells whether a text contains a URL with a password. */
export function holdsCredentials(text: string): boolean {
  return listUrlCredentials(text).length > 0;
}

/** The user and the password in a URL, as they are written there. */
export interface UrlCredentials {
  readonly user: string;
  readonly password: string;
}

/** Lists the users and passwords in the URLs of a text. */
export function listUrlCredentials(text: string): readonly UrlCredentials[] {
  return Array.from(text.matchAll(CREDENTIALS_IN_URL), ([, user = '', password = '']) => ({
    user,
    password,
  }));
}
