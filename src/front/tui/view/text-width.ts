/** Columns that text takes in a terminal, as the library that draws counts them. */
export { truncateToWidth, visibleWidth, wrapTextWithAnsi } from '@earendil-works/pi-tui';
