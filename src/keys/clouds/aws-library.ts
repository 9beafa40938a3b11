/**
 * The parts of AWS's own library that find credentials. They are bundled as a file of their own (scripts/bundle.ts),
 * since the library mixes two kinds of modules, which would change the files that every start loads.
 */
export {
  fromHttp,
  fromIni,
  fromInstanceMetadata,
  fromTokenFile,
} from '@aws-sdk/credential-providers';
