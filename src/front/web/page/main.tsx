import { render } from 'preact';
import './page.css';
import { takeAccessKey } from './data/access-key.ts';
import { createExportedSource } from './data/exported-source.ts';
import { createLiveSource } from './data/live-source.ts';
import { PageStore } from './data/page-store.ts';
import { PageView } from './view/page-view.tsx';
import { applyColorScheme, readColorScheme } from './view/saved-choices.ts';

takeAccessKey();
applyColorScheme(readColorScheme());
const place = document.querySelector('#page');
if (place !== null) {
  const store = new PageStore(createExportedSource() ?? createLiveSource());
  render(<PageView store={store} />, place);
  void store.load();
}
