export function after(ms: number, callback: () => void): void {
  setTimeout(callback, ms);
}
