import type { JsonObject } from '../../base/json.ts';
import type { CloudKind } from '../settings/clouds.ts';
import type { ProtocolName } from '../settings/presets.ts';
import type { ProviderQuirks } from '../settings/provider-quirks.ts';
import type { KeyHeader } from './provider-key.ts';
import type { Vendor } from './vendors.ts';

/** The way in which a cloud serves the models of one vendor. */
export interface CloudRoute {
  /** Matches the ids of the models. Default: all models that no earlier route matches. */
  readonly models?: RegExp;
  readonly protocol: ProtocolName;
  readonly vendor: Vendor | null;
  readonly baseUrl: string;
  /** The header of the key. Default: that of the provider. */
  readonly keyHeader?: KeyHeader;
  readonly headers?: Readonly<Record<string, string>>;
  /** The fields that are added to every request. Default: none. */
  readonly body?: JsonObject;
}

/** The cloud of a provider, which serves the models of several vendors, each in its own protocol. */
export interface CloudAccess {
  readonly kind: CloudKind;
  /** The region, for the signature of requests and for messages; null: the cloud's addresses have none. */
  readonly region: string | null;
  /** The name of the deployment that is sent in place of the model's id. Default: the id is its name. */
  readonly deployment?: string;
  /** The routes. The first one that matches a model is used. */
  readonly routes: readonly CloudRoute[];
}

/** The properties of a provider that differ between the models of a cloud. */
interface RoutedProvider {
  readonly cloud?: CloudAccess;
  readonly protocol: ProtocolName;
  readonly vendor: Vendor | null;
  readonly baseUrl: string;
  readonly keyHeader?: KeyHeader;
  readonly headers?: Readonly<Record<string, string>>;
  readonly quirks?: ProviderQuirks;
}

/**
 * Returns a provider as it is for one of its models. Each vendor's models of a cloud have an address and a protocol of
 * their own; all models of another provider have the same.
 */
export function routeModel<Provider extends RoutedProvider>(
  provider: Provider,
  modelId: string,
): Provider {
  const route = provider.cloud?.routes.find(({ models }) => models?.test(modelId) !== false);
  if (route === undefined) return provider;
  const { protocol, vendor, baseUrl, keyHeader, headers, body } = route;
  return {
    ...provider,
    protocol,
    vendor,
    baseUrl,
    ...(keyHeader !== undefined && { keyHeader }),
    ...(headers !== undefined && { headers }),
    ...(body !== undefined && { quirks: { ...provider.quirks, body } }),
  };
}
