/** The functions about the accounts and keys of providers that front ends use. */
export { listAccounts, listProvidersToSignIn, signOut } from './setup/account-list.ts';
export { prepareSignIn } from './setup/sign-in.ts';
