/** The functions about plugins and marketplaces that front ends use. */
export {
  addMarketplace,
  listMarketplaces,
  removeMarketplace,
  showMarketplace,
  updateMarketplace,
} from './manage-marketplaces.ts';
export { listPlugins, removePlugin, setPluginState, showPlugin } from './manage-plugins.ts';
export { proposePlugin, proposeUpdate } from './propose-plugin.ts';
