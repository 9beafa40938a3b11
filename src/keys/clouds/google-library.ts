/** The parts of Google's own library that find credentials. They are bundled as a file of their own (scripts/bundle.ts). */
export {
  AwsClient,
  ExternalAccountAuthorizedUserClient,
  IdentityPoolClient,
  Impersonated,
  JWT,
  PluggableAuthClient,
  UserRefreshClient,
  type AuthClient,
} from 'google-auth-library';
